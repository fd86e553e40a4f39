/** Conversions that a signal stops in the middle: what is left, and what is reported. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { OnProgress } from '../core/progress.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { noSets } from '../formats/testing/altered-sets.js';
import { readVisibilities, writeVisibilities } from '../formats/testing/visibility-files.js';
import { header, integration } from '../formats/visibilities/uvh5/testing.js';
import { checkObservation } from '../observation/index.js';
import { convertFile, runVisibilities } from './index.js';

const folder = temporaryFolder('stopped');
const at = (name: string): string => join(folder, name);
/** As if Ctrl-C was pressed; the test runner has its own answer to SIGINT. */
const stopWhen =
  (enough: number): OnProgress =>
  ({ done }) => {
    if (done === enough) process.emit('SIGHUP', 'SIGHUP');
  };
const settings = (enough: number) => ({
  version: '1',
  stage: () => ({ update: stopWhen(enough), at: () => undefined, step: () => undefined, done: () => 0 }),
});
const observationOf = (...names: readonly string[]) =>
  checkObservation({
    corella: 1,
    source: { visibilities: at('all.uvh5') },
    products: names.map((name) => ({ visibilities: at(name) })),
  });
const made = (): string[] => readdirSync(folder).filter((name) => name !== 'all.uvh5');

describe('a conversion that is stopped', () => {
  for (const name of ['some.uvh5', 'some.uvfits', 'some.ms'])
    it(
      `keeps what was finished and says how much: ${name}`,
      { skip: name.endsWith('ms') && noSets },
      async () => {
        await writeVisibilities(
          at('all.uvh5'),
          header,
          [0, 1, 2, 3].map((k) => integration(k)),
        );
        await assert.rejects(convertFile(observationOf(name), settings(2)), {
          signal: 'SIGHUP',
          message: `${at(name)}: stopped by SIGHUP; ${at(name)} is whole and holds the 2 integrations that were finished`,
        });
        assert.equal((await readVisibilities(at(name))).all.length, 2);
        assert.ok(
          made().every((one) => one.startsWith('some.') && !/part|growing/.test(one)),
          made().join(),
        );
      },
    );

  it('ends with that product', async () => {
    await writeVisibilities(
      at('all.uvh5'),
      header,
      [0, 1, 2].map((k) => integration(k)),
    );
    await assert.rejects(runVisibilities(observationOf('one.uvh5', 'two.uvh5'), settings(1)), {
      signal: 'SIGHUP',
    });
    assert.ok(made().includes('one.uvh5') && !made().includes('two.uvh5'));
  });
});
