/** Damaged or unsuitable recordings of a TART and its orbits, through the command line. */
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { checksum } from '../sky/orbits/elements.js';
import { corellaHere } from './corella.js';

describe('a recording of a TART', () => {
  const folder = temporaryFolder('bad-tart');
  const at = (name: string): string => join(folder, name);
  const run = (words: string) => corellaHere(folder, ...words.split(' '));
  const refused = async (words: string, said: RegExp): Promise<void> => {
    const { code, stderr } = await run(words);
    assert.equal(code, 1, words);
    assert.match(stderr, said);
  };
  before(async () => {
    const { code, stderr } = await run('sample tart');
    assert.equal(code, 0, stderr);
  });

  it('that was cut short is refused, wherever it was cut', async () => {
    const whole = readFileSync(at('tart-raw.hdf'));
    for (const bytes of [10, 1000, 20_000, whole.length - 1]) {
      writeFileSync(at('cut-raw.hdf'), whole.subarray(0, bytes));
      await refused('inspect cut-raw.hdf', /cut-raw\.hdf: .*damaged or cut short: copy it again/);
      await refused('correlate cut-raw.hdf --channels 16 -o no.uvh5', /damaged or cut short: copy it again/);
    }
  });

  it('without positions of its antennas is read, and neither correlated nor calibrated', async () => {
    writeFileSync(at('lost.hdf'), readFileSync(at('tart-raw.hdf')));
    assert.equal((await run('inspect lost.hdf')).code, 0);
    const said = /lost\.hdf: does not state where its stations are; give --telescope NAME/;
    await refused('correlate lost.hdf --channels 16 -o no.uvh5', said);
    await refused('calibrate lost.hdf --gnss -o no.json', said);
    renameSync(at('lost.hdf'), at('found.hdf'));
  });

  it('with orbits of a year ago: refused where a satellite is needed, left out and reported where it is not', async () => {
    // The same elements, a year earlier.
    const lines = readFileSync(at('tart.tle'), 'utf8').split('\n');
    const old = lines.map((line) => {
      if (!line.startsWith('1 ')) return line;
      const earlier = `${line.slice(0, 18)}${Number(line.slice(18, 20)) - 1}${line.slice(20, 68)}`;
      return `${earlier}${checksum(earlier)}`;
    });
    writeFileSync(at('old.tle'), old.join('\n'));
    const said =
      /old\.tle: .*its elements are of 2025-.*, 365 days from the data; give elements of that time/;
    const made = await run('correlate tart-raw.hdf --channels 16 -o t.uvh5');
    assert.equal(made.code, 0, made.stderr);
    const image = 'image t.uvh5 --pixels 64 --no-picture -o t.fits --overwrite --orbits old.tle';
    await refused(`${image} --flag satellites:90005@2deg`, said);
    await refused(`${image} --centre 90005`, said);
    await refused('calibrate tart-raw.hdf --gnss --orbits old.tle -o no.json', said);
    const inspected = await run('inspect t.uvh5 --orbits old.tle');
    assert.equal(inspected.code, 0, inspected.stderr);
    assert.match(`${inspected.stdout}${inspected.stderr}`, /6 satellites left out, for elements too old/);
    const asked = await run(`${image} --flag satellites@2deg --old-orbits`);
    assert.equal(asked.code, 0, asked.stderr);
    assert.match(`${asked.stdout}${asked.stderr}`, /more than 3 days from the data .* or more than 30/);
  });
});
