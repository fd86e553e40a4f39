/** Recordings of the real sky, if present: CORELLA_TEST_DATA names the folder with ska-low/. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { parseInstant } from '../core/instant.js';
import { skyFrame } from '../sky/frame.js';
import { findSources } from '../sky/sources.js';
import { loadTelescope } from '../telescope/load.js';
import { brightestIn, separationDeg } from './brightest.js';
import { corella, withFolder } from './corella.js';

const data = process.env.CORELLA_TEST_DATA;
const found = (start: string): string | undefined => {
  if (data === undefined) return undefined;
  try {
    const name = readdirSync(join(data, 'ska-low')).find(
      (entry) => entry.startsWith(start) && entry.endsWith('.hdf5'),
    );
    return name === undefined ? undefined : join(data, 'ska-low', name);
  } catch {
    return undefined;
  }
};

describe('the real sky', () => {
  const recording = found('eda2_correlation');
  const skip =
    recording === undefined ? 'no EDA2 recording: set CORELLA_TEST_DATA to a folder with ska-low/' : false;
  it('EDA2 on 2021-12-11: the Sun is where it was, and the brightest', { skip }, async () => {
    await withFolder(async (folder) => {
      const gains = await corella(
        folder,
        'calibrate',
        recording ?? '',
        '--sources',
        'Sun',
        '--min-baseline',
        '5',
        '-o',
        'gains.json',
        '--json',
      );
      assert.equal(gains.code, 0, gains.stderr);
      const solved = z
        .object({
          solves: z.number(),
          converged: z.number(),
          inputs: z.number(),
          solvedInputs: z.number(),
          outlierInputs: z.array(z.object({ name: z.string() })),
        })
        .parse(JSON.parse(gains.stdout));
      assert.equal(solved.converged, solved.solves);
      // Every input without a gain is named, with the reason.
      assert.equal(solved.outlierInputs.length, solved.inputs - solved.solvedInputs);
      assert.equal(solved.outlierInputs[0].name, 'Ant086:X');
      assert.ok(
        solved.solvedInputs > 0.8 * solved.inputs,
        `${solved.solvedInputs} of ${solved.inputs} inputs`,
      );
      const image = await corella(
        folder,
        'image',
        recording ?? '',
        '--gains',
        'gains.json',
        '--pixels',
        '256',
        '-o',
        'image.fits',
        '--quiet',
      );
      assert.equal(image.code, 0, image.stderr);
      const brightest = await brightestIn(join(folder, 'image.fits'));
      const [sun] = findSources(['Sun']);
      const { site } = await loadTelescope('eda2');
      const offDeg = separationDeg(
        brightest,
        sun.position(skyFrame(site, parseInstant('2021-12-11T03:59:34Z'))),
      );
      assert.ok(offDeg < 1, `the brightest pixel is ${offDeg}° from the Sun`);
      assert.ok((await readFile(join(folder, 'image.png'))).length > 10_000);
    });
  });

  /** Output of calibrate --json on its model. */
  const reportSchema = z.looseObject({
    worstResidual: z.number(),
    model: z.looseObject({
      unexplained: z.number(),
      outside: z.array(z.looseObject({ name: z.string(), offsetDeg: z.number() })),
    }),
  });
  const calibrated = async (path: string, ...words: readonly string[]) => {
    let found: z.infer<typeof reportSchema> | undefined;
    await withFolder(async (folder) => {
      const ran = await corella(folder, 'calibrate', path, '--sources', 'Sun', '--json', ...words);
      assert.equal(ran.code, 0, ran.stderr);
      found = reportSchema.parse(JSON.parse(ran.stdout));
    });
    assert.ok(found);
    return found;
  };

  it(
    'EDA2: a smooth Galaxy in the model explains more, and Cen A, in neither model, is where it was',
    { skip },
    async () => {
      const element = ['--element', 'mwa-dipole', '--min-baseline', '2wl'];
      const alone = await calibrated(recording ?? '', ...element);
      const behind = await calibrated(recording ?? '', ...element, '--diffuse', 'galaxy');
      // 33.0 and 22.1 % when this was written.
      assert.ok(
        behind.worstResidual < 0.75 * alone.worstResidual,
        `${alone.worstResidual} ${behind.worstResidual}`,
      );
      assert.ok(behind.model.unexplained < 0.5 * alone.model.unexplained);
      for (const { model } of [alone, behind]) {
        const cenA = model.outside.find(({ name }) => name === 'Cen A');
        assert.ok(cenA && cenA.offsetDeg < 1, JSON.stringify(model));
      }
    },
  );

  const aavs2 = found('aavs2_correlation');
  it(
    'AAVS2 on 2023-08-23: Cen A, not in the model, is where it was',
    {
      skip:
        aavs2 === undefined ? 'no AAVS2 recording: set CORELLA_TEST_DATA to a folder with ska-low/' : false,
    },
    async () => {
      const { model } = await calibrated(aavs2 ?? '');
      const cenA = model.outside.find(({ name }) => name === 'Cen A');
      assert.ok(cenA && cenA.offsetDeg < 1, JSON.stringify(model));
    },
  );
});
