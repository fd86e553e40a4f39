/**
 * `corella inspect --json` of real files, compared with other readers (baseband, LSL, astropy, h5py, pyuvdata) for the
 * same files. The files are not part of the project: CORELLA_TEST_DATA names a folder with them; without it these tests
 * are reported as skipped.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { corella } from './corella.js';
import { recordingFacts } from './recording-facts.js';
import { visibilityFacts } from './visibility-facts.js';

const folder = process.env.CORELLA_TEST_DATA ?? '';

/** The value at "a.0.b"; undefined if there is none. */
const at = (json: unknown, place: string): unknown =>
  place
    .split('.')
    .reduce<unknown>(
      (here, key) =>
        typeof here === 'object' && here !== null ? (here as Record<string, unknown>)[key] : undefined,
      json,
    );

describe('inspect --json of real files', () => {
  for (const { path, flags = [], says, near = {} } of [...recordingFacts, ...visibilityFacts]) {
    const file = join(folder, path);
    const skip =
      folder === ''
        ? 'CORELLA_TEST_DATA names no folder of real files'
        : existsSync(file)
          ? false
          : `${file} is not there`;
    it(path, { skip }, async () => {
      const { code, stdout, stderr } = await corella('.', 'inspect', file, ...flags, '--json');
      assert.equal(code, 0, stderr);
      const json: unknown = JSON.parse(stdout);
      for (const [place, value] of Object.entries(says)) assert.deepEqual(at(json, place), value, place);
      for (const [place, [value, tolerance]] of Object.entries(near)) {
        const found = at(json, place);
        assert.ok(
          typeof found === 'number' && Math.abs(found - value) <= tolerance,
          `${place} is ${String(found)}, not ${value}`,
        );
      }
    });
  }
});
