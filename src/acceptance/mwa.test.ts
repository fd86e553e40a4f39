/** An MWA observation from the telescope's files to a picture: found by its metafits, with cable corrections. */
import assert from 'node:assert/strict';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { encodeGpubox, encodeMetafits, smallMwa } from '../formats/testing/mwa-files.js';
import { skyFrame } from '../sky/frame.js';
import { loadTelescope } from '../telescope/load.js';
import { brightestIn, separationDeg } from './brightest.js';
import { corella, withFolder } from './corella.js';

const START = 1_377_280_290;
const GPUBOX = '1061315448_20130823175130_gpubox02_00.fits';

async function observation() {
  const { site } = await loadTelescope('mwa128');
  const frame = skyFrame(site, instant(START, 0.25));
  /** South-east of the zenith. */
  const source = { x: 0.28, y: -0.13, z: Math.sqrt(1 - 0.28 ** 2 - 0.13 ** 2) };
  const tiles = Array.from({ length: 32 }, (_, s) => ({
    eastM: 20 * Math.cos(2.4 * s) * Math.sqrt(s / 8),
    northM: 20 * Math.sin(2.4 * s) * Math.sqrt(s / 8),
    cable: `EL_${((37 * s) % 100) - 50}`,
    flag: s === 5 ? (1 as const) : (0 as const),
  }));
  const lateM = tiles.map(
    ({ eastM, northM, cable }) => Number(cable.slice(3)) - eastM * source.x - northM * source.y,
  );
  const sample = smallMwa(32, {
    tiles,
    value: (a1, a2, c) => {
      const frequencyHz = 128 * 1.28e6 - 625e3 + c * 40e3;
      const pathM = lateM[a1 >> 1] - lateM[a2 >> 1];
      const phase = (-2 * Math.PI * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S;
      // The flagged tile receives another, strong signal.
      const size =
        (a1 === a2 ? 5 : a1 % 2 === a2 % 2 ? 1 : 0) * ([a1, a2].some((a) => a >> 1 === 5) ? 100 : 1);
      return [size * Math.cos(phase), size * Math.sin(phase)];
    },
  });
  return { sample, place: frame.positionOf(source) };
}

describe('an MWA observation', () => {
  it('becomes a picture with its source in place', async () => {
    const { sample, place } = await observation();
    await withFolder(async (folder) => {
      await writeFile(join(folder, '1061315448.metafits'), encodeMetafits(sample));
      await writeFile(join(folder, GPUBOX), encodeGpubox(sample, { channels: 2, times: [START] }));
      const ok = async (...words: readonly string[]): Promise<string> => {
        const ran = await corella(folder, ...words);
        assert.equal(ran.code, 0, `corella ${words.join(' ')}\n${ran.stderr}`);
        return ran.stdout;
      };
      const small = ['--pixels', '96', '--field', '70', '--quiet', '--backend', 'reference'];
      await ok('image', '1061315448.metafits', '--remove-cables', '-o', 'cables.fits', ...small);
      const model = `spot:${place.raDeg}:${place.decDeg}:1`;
      const solved = await ok('calibrate', GPUBOX, '--sources', model, '-o', 'gains.json', '--json', '--backend', 'reference'); // prettier-ignore
      const { converged, solvedInputs } = z
        .object({ converged: z.number(), solvedInputs: z.number() })
        .parse(JSON.parse(solved));
      // Two channels of two polarisations; 32 tiles minus the flagged one.
      assert.deepEqual([converged, solvedInputs], [4, 62]);
      await ok('image', GPUBOX, '--gains', 'gains.json', '-o', 'gains.fits', ...small);
      await ok('convert', '1061315448.metafits', 'all.uvfits', '--remove-cables', '--quiet');
      await ok('image', 'all.uvfits', '-o', 'converted.fits', ...small);
      for (const name of ['cables.fits', 'gains.fits', 'converted.fits']) {
        const offDeg = separationDeg(await brightestIn(join(folder, name)), place);
        assert.ok(offDeg < 0.6, `${name}: the brightest pixel is ${offDeg}° off`);
      }
    });
  });

  it('without its metafits is refused in one line that states how to go on', async () => {
    const { sample } = await observation();
    await withFolder(async (folder) => {
      await writeFile(join(folder, GPUBOX), encodeGpubox(sample, { channels: 2, times: [START] }));
      const lost = await corella(folder, 'inspect', GPUBOX);
      assert.equal(lost.code, 1);
      assert.match(lost.stderr, /^corella: .*1061315448\.metafits.*--metafits\n$/);
      await writeFile(join(folder, 'elsewhere'), encodeMetafits(sample));
      assert.equal((await corella(folder, 'inspect', GPUBOX, '--metafits', 'elsewhere')).code, 0);
      await copyFile(join(folder, 'elsewhere'), join(folder, '1061315448.metafits'));
      assert.equal((await corella(folder, 'inspect', GPUBOX)).code, 0);
    });
  });
});
