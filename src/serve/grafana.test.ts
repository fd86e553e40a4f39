import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { z } from 'zod';

const board = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) });

describe('the Grafana board', () => {
  it('asks for metrics that there are', () => {
    const { panels } = board.parse(
      JSON.parse(readFileSync(new URL('grafana.json', import.meta.url), 'utf8')),
    );
    const source = readFileSync(new URL('metrics.js', import.meta.url), 'utf8');
    const asked = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/corella_\w+/g) ?? []),
    );
    assert.ok(asked.length >= panels.length);
    for (const name of asked) {
      const plain = name.replace(/_bucket$/, '');
      assert.ok(source.includes(`'${plain}'`), name);
    }
  });
});
