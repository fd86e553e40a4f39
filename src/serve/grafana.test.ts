import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';

const board = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) });

const rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const source = readFileSync(new URL('metrics.js', import.meta.url), 'utf8');

it('the rules for Prometheus ask for metrics that there are', () => {
  const text = readFileSync(new URL('prometheus-rules.yml', import.meta.url), 'utf8');
  const [group] = rules.parse(parse(text)).groups;
  assert.ok(group.rules.length > 3);
  for (const { alert, expr } of group.rules) {
    const names = expr.match(/corella_\w+/g) ?? [];
    assert.ok(names.length > 0, alert);
    for (const name of names) assert.match(source, new RegExp(`['"]${name}['"]`), `${alert}: ${name}`);
  }
});

describe('the Grafana board', () => {
  it('asks for metrics that there are', () => {
    const { panels } = board.parse(
      JSON.parse(readFileSync(new URL('grafana.json', import.meta.url), 'utf8')),
    );
    const asked = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/corella_\w+/g) ?? []),
    );
    assert.ok(asked.length >= panels.length);
    for (const name of asked) {
      const plain = name.replace(/_bucket$/, '');
      assert.ok(new RegExp(`['"]${plain}['"]`).test(source), name);
    }
  });
});
