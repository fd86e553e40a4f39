import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { readGainFile, writeGainFiles } from './gain-files.js';
import { readGains } from './gains.js';
import { reals, text, texts, truth, wholes } from '../hdf5/items.js';
import { openHdf5 } from '../hdf5/read.js';
import { createHdf5, type GroupPlan } from '../hdf5/write.js';
import { bytesOf } from '../io/interleave.js';
import { openOutput } from '../io/output.js';
import { trioGains } from '../testing/gain-subjects.js';
import { trio } from '../testing/trio.js';

describe('CalH5', () => {
  const gains = trioGains;
  const facts = { telescope: trio, channelWidthHz: 1e6, durationS: 2 };

  it('keeps [station][channel][time][polarisation], unsolved gains flagged', async () => {
    const path = join(temporaryFolder('calh5'), 'gains.json');
    const [, calh5] = await writeGainFiles(path, gains, facts);
    const file = await openHdf5(calh5);
    const { shape } = file.dataset('Data/gains');
    assert.deepEqual(shape, [3, 2, 1, 2]);
    const values = file.dataset('Data/gains').rows(0, 3);
    // Station 1, channel 1, polarisation 0: input 2 of 6 in channel 1 is the ninth, 8 + 8.5i; the file has conjugates.
    const at = 2 * ((1 * 2 + 1) * 2 + 0);
    assert.deepEqual([...values.subarray(at, at + 2)], [8, -8.5]);
    // Input 1 (station 0, Y) of channel 1 is unsolved.
    assert.deepEqual(
      [...file.dataset('Data/flags').rows(0, 3)].flatMap((flag, k) => (flag ? [k] : [])),
      [3],
    );
    assert.deepEqual([...values.subarray(6, 8)], [1, 0]);
    assert.equal(file.number('Header/time_array'), 2_459_560);
    assert.equal(file.text('Header/gain_convention'), 'divide');
    assert.equal(file.text('Header/ref_antenna_name'), 's1');
    await file.close();
    // The JSON beside it has the same gains, unconjugated.
    const json = await readGains(path);
    assert.deepEqual([...json.gains.subarray(16, 18)], [8, 8.5]);
    assert.equal(json.solved[7], 0);
    // CalH5 reads back identical to the last digit.
    const back = await readGainFile(calh5);
    assert.deepEqual(back.gains, json.gains);
    assert.deepEqual(back.solved, json.solved);
    assert.deepEqual(back.frequenciesHz, json.frequenciesHz);
    assert.deepEqual(
      [back.stations, back.referenceStation, back.sources, back.history],
      [json.stations, 1, json.sources, json.history],
    );
    assert.deepEqual(back.time, json.time);
    assert.deepEqual((await readGainFile(path)).gains, json.gains);
    await assert.rejects(
      writeGainFiles(path, gains, { ...facts, telescope: { ...trio, stations: trio.stations.slice(1) } }),
      /gains of 3 stations where trio has 2/,
    );
  });

  it('takes gains to multiply with, X lying north, and refuses what is no gain of a channel', async () => {
    const folder = temporaryFolder('calh5');
    /** Two of three antennas, one channel, Y before X; γ = 2i for antenna 7's second term. */
    const write = async (
      name: string,
      changed: GroupPlan['items'] = {},
      terms: readonly number[] = [1, 0, 0, 2, 1, 0, 1, 0],
      times = 1,
    ): Promise<string> => {
      const path = join(folder, name);
      const output = await openOutput(path);
      const dims = [2, 1, times, terms.length / 4 / times];
      const gammas = bytesOf(Float64Array.from(terms));
      const file = await createHdf5(output, {
        kind: 'group',
        items: {
          Header: {
            kind: 'group',
            items: {
              cal_type: text('gain'),
              wide_band: truth('no'),
              gain_convention: text('multiply'),
              telescope_name: text('other'),
              x_orientation: text('north'),
              antenna_names: texts(['a', 'b', 'c']),
              antenna_numbers: wholes([5, 6, 7]),
              ant_array: wholes([7, 5]),
              freq_array: reals([1e8]),
              jones_array: wholes([-6, -5]),
              time_range: reals([2_459_560, 2_459_561]),
              ...changed,
            },
          },
          Data: {
            kind: 'group',
            items: {
              gains: { kind: 'fixed', type: 'complex128', dims, bytes: gammas },
              flags: {
                kind: 'fixed',
                type: 'boolean',
                dims,
                bytes: Uint8Array.from(terms.slice(0, terms.length / 2), (_, k) =>
                  k === terms.length / 4 ? 1 : 0,
                ),
              },
            },
          },
        },
      });
      await file.commit();
      await output.finish();
      return path;
    };
    const found = await readGainFile(await write('theirs.calh5'));
    assert.deepEqual(found.stations, ['a', 'b', 'c']);
    // The second term, X, points north and is our Y: input 5, g = conj(1/2i) = i/2. Antenna 5's first is flagged.
    assert.deepEqual([...found.gains.subarray(10, 12)], [0, 0.5]);
    assert.deepEqual([...found.solved], [0, 1, 0, 0, 1, 1]);
    assert.equal(formatInstant(found.time), '2021-12-12T00:00:00.000Z');
    // All four terms: Jxx = 2, Jyy = 1, Jxy = 0, Jyx = i of a station whose X points north, so that our X is its Y. In
    // our order [[1, i], [0, 2]], conjugated [[1, −i], [0, 2]]; its inverse [[1, i/2], [0, 1/2]] multiplies: G.
    const four = [2, 0, 1, 0, 0, 0, 0, 1];
    const matrices = await readGainFile(
      await write('four.calh5', { jones_array: wholes([-5, -6, -7, -8]) }, [...four, ...four]),
    );
    assert.deepEqual([...matrices.gains.subarray(8, 12)], [1, 0, 0.5, 0]);
    assert.deepEqual(
      [...(matrices.leakage?.subarray(8, 12) ?? [])].map((value) => value + 0),
      [0, 0.5, 0, 0],
    );
    // One term of antenna 5 is flagged: the station has no matrix.
    assert.deepEqual([...matrices.solved], [0, 0, 0, 0, 1, 1]);
    // One term only, of antennas 7 and 5 (flagged): Y is the second of two polarisations, and so is an X that points
    // north; otherwise X is the only one.
    for (const [code, orientation, inputs, place] of [
      [-6, 'east', 6, 5],
      [-5, 'north', 6, 5],
      [-5, 'east', 3, 2],
      [-6, 'north', 3, 2],
      [-2, 'north', 6, 5],
      [-1, 'north', 3, 2],
    ] as const) {
      const lone = await readGainFile(
        await write(
          `lone${code}${orientation}.calh5`,
          { jones_array: wholes([code]), x_orientation: text(orientation) },
          [0, 2, 1, 0],
        ),
      );
      assert.equal(
        String(lone.assumed).includes('X and Y are exchanged'),
        orientation === 'north' && code <= -5,
      );
      assert.deepEqual([lone.polarisations, lone.solved.length], [inputs / 3, inputs]);
      assert.deepEqual(
        [...lone.solved].flatMap((mark, a) => (mark === 1 ? [a] : [])),
        [place],
      );
      assert.deepEqual([...lone.gains.subarray(2 * place, 2 * place + 2)], [0, 0.5]);
    }
    // Two times, the second first: Data/gains is [antenna][channel][time][term].
    const several = await readGainFile(
      await write(
        'several.calh5',
        {
          time_array: reals([2_459_561.5, 2_459_560.5]),
          gain_convention: text('divide'),
          x_orientation: text('east'),
        },
        [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0],
        2,
      ),
    );
    assert.deepEqual(
      [several, ...(several.later ?? [])].map(({ time }) => formatInstant(time, 0)),
      ['2021-12-12T00:00:00Z', '2021-12-13T00:00:00Z'],
    );
    // Antenna 7 is station 2, terms Y, X: at the first time Y 3 and X 4, at the second 1 and 2.
    assert.deepEqual([...several.gains.subarray(8, 12)], [4, 0, 3, 0]);
    assert.deepEqual([...(several.later?.[0].gains.subarray(8, 12) ?? [])], [2, 0, 1, 0]);
    for (const [changed, words] of [
      [{ cal_type: text('delay') }, /holds delays/],
      [{ wide_band: truth('yes') }, /gains of whole bands/],
      [{ jones_array: wholes([-5, -7]) }, /the Jones term -7/],
      [{ freq_array: reals([1e8, 2e8]) }, /Data\/gains is \[2\]\[1\]\[1\]\[2\] where \[2\]\[2\]/],
      [{ ant_array: wholes([7, 9]) }, /antenna 9 is not in antenna_numbers/],
    ] as const) {
      await assert.rejects(write('odd.calh5', changed).then(readGainFile), words);
    }
  });
});
