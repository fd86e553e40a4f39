/** Beams by the command line, compared with ERFA's geometry. */
import assert from 'node:assert/strict';
import { appendFile, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import { parseInstant, secondsBetween } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { openFile, openFilterbank } from '../formats/index.js';
import { prepareBeams, beamPieces, type BeamSamples, observe } from '../compose/index.js';
import { spectraInMemory } from '../stages/testing.js';
import { fixedCentre } from '../sky/phase-centre.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { corellaHere } from './corella.js';
import * as erfa from './erfa-tracking.js';

const folder = temporaryFolder('beams');
const ran = async (...words: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await corellaHere(folder, ...words);
  assert.equal(code, 0, `corella ${words.join(' ')}\n${stderr}${stdout}`);
  return stdout;
};
const observation = async (
  name: string,
  source: string,
  products: readonly string[],
  more = '',
): Promise<string> => {
  await writeFile(
    join(folder, name),
    `corella: 1\nsource: ${source}\n${more}products:\n${products.map((one) => `  - ${one}\n`).join('')}`,
  );
  return name;
};
const valuesOf = async (path: string) => {
  const file = await openFilterbank(join(folder, path));
  const values = await file.read(0, file.values);
  await file.close();
  return { values, header: file.header };
};

describe('a tone and a pulse, followed over a pass of an hour', () => {
  for (const weights of ['ci8', 'cf32'] as const)
    it(`with ${weights} weights have the phase that ERFA's geometry gives, within 0.5°`, async () => {
      const whole = selectStations(await loadTelescope('lwasv'), 24);
      const telescope = { ...whole, site: erfa.site, polarisations: 1 as const };
      const [rateHz, stations] = [4, 24];
      const frequenciesHz = Float64Array.of(60e6, 60.025e6, 74e6, 88e6);
      const channels = frequenciesHz.length;
      const start = parseInstant(erfa.start);
      const samples = 3600 * rateHz + 8;
      const values = new Float32Array(2 * channels * stations * samples);
      // Spectra in the second around each of ERFA's directions contain a tone; the pulse is 20 times as strong.
      const marks = erfa.directions.map(([seconds]) => seconds * rateHz + 1);
      for (const [n, [seconds, east, north, up, eastRate, northRate, upRate]] of erfa.directions.entries())
        for (let t = Math.max(0, marks[n] - 3); t <= marks[n] + 3; t++)
          telescope.stations.forEach(({ eastM, northM, upM }, s) => {
            // In the middle of a spectrum.
            const since = (t + 0.5) / rateHz - seconds;
            const pathM =
              eastM * (east + since * eastRate) +
              northM * (north + since * northRate) +
              upM * (up + since * upRate);
            for (let c = 0; c < channels; c++) {
              const angle = 2 * Math.PI * ((frequenciesHz[c] * pathM) / 299_792_458);
              const size = t === marks[n] ? 20 : 1;
              const at = 2 * ((c * stations + s) * samples + t);
              values[at] = size * Math.cos(angle);
              values[at + 1] = size * Math.sin(angle);
            }
          });
      const source = spectraInMemory(
        { samples, spectra: spectraCAT(values, 'cf32', channels, stations, samples), gaps: [], start },
        {
          type: 'cf32',
          inputs: stations,
          polarisations: 1,
          spectrumRateHz: rateHz,
          chunk: 1000,
          frequenciesHz,
        },
      );
      const product = {
        ...({ telescope, targets: [fixedCentre('source', erfa.source)], sum: 'coherent', weights } as const),
        ...({ detection: 'none', spectraPerValue: 1, rules: [] } as const),
        flaggedInputs: new Uint8Array(stations),
      };
      const front = { source };
      const stage = await prepareBeams(front, product, openReference());
      const voltages = new Float64Array(2 * channels * samples);
      const keep = ({ index, samples: many, voltages: made, scales }: BeamSamples): void => {
        for (let c = 0; c < channels; c++)
          for (let n = 0; n < 2 * many; n++)
            voltages[2 * (c * samples + index) + n] = made[2 * c * many + n] / (scales[0] * stations);
      };
      const push: typeof stage.push = (item) =>
        stage.push(item, (one) => {
          if (one.kind === 'voltages') keep(one);
          return Promise.resolve();
        });
      const products = [
        { from: 'spectra', clock: beamPieces(front, product), stage: { ...stage, push } },
      ] as const;
      await observe({ front, products }, [openReference()]);
      let [worstDeg, leastSize] = [0, Infinity];
      for (const mark of marks)
        for (let t = Math.max(0, mark - 3); t <= mark + 3; t++)
          for (let c = 0; c < channels; c++) {
            const [re, im] = [voltages[2 * (c * samples + t)], voltages[2 * (c * samples + t) + 1]];
            const size = Math.hypot(re, im) / (t === mark ? 20 : 1);
            worstDeg = Math.max(worstDeg, Math.abs((Math.atan2(im, re) * 180) / Math.PI));
            leastSize = Math.min(leastSize, size);
            assert.ok(size < 1.01);
          }
      assert.ok(worstDeg < 0.5, `${worstDeg}°`);
      assert.ok(leastSize > 0.995, String(leastSize));
    });
});

describe('beams of recordings and captures', () => {
  const common = 'telescope: lwasv\nstations: 4\n';
  const beams = (path: string, more: string): string => `{ beams: ${path}, ${more} }`;
  before(async () => {
    const sky = ['simulate', '--stations', '4', '--rate', '100kHz', '--duration', '410ms'];
    await ran(...sky, '--time', '2026-06-21T04:00:00Z', '-o', 'sky');
    await ran('channelise', 'sky.sigmf-meta', '--channels', '4', '--bits', '4', '-o', 'nibbles');
    const lossy = ['--to', 'lost.pcap', '--truth', 'arrived', '--lose', '5%', '--seed', '5'];
    await ran('send', 'nibbles.sigmf-meta', '--format', 'snap2', ...lossy);
  });

  it('of a capture with 5 % of the packets lost are those of a recording of what arrived', async () => {
    // Weights of a direction over the ground do not change; a moving direction is tracked from different first spectra.
    const made = [
      beams('fixed.fil', 'towards: "az 30 el 70", detection: IQUV'),
      beams('moving.fil', 'towards: Cyg A, weights: float'),
    ];
    const more = `${common}flags: { inputs: [3] }\n`;
    await observation('capture.yaml', '{ capture: lost.pcap, rate: 25kHz }', made, more);
    await observation('arrived.yaml', '{ recording: arrived.sigmf-meta }', made, more);
    await ran('run', 'capture.yaml', '--into', 'live', '--backend', 'cpu');
    await ran('run', 'arrived.yaml', '--into', 'batch', '--backend', 'cpu');
    for (const name of ['fixed.fil', 'fixed-samples.fil', 'moving.fil']) {
      const [live, batch] = [await valuesOf(join('live', name)), await valuesOf(join('batch', name))];
      const row = live.header.planes * live.header.channels;
      const shift = Math.round(secondsBetween(live.header.start, batch.header.start) * 25e3) * row;
      const [first, many] = [Math.max(0, -shift), Math.min(batch.values.length, live.values.length - shift)];
      assert.ok(many > 0.99 * batch.values.length);
      const most = batch.values.reduce((largest, one) => Math.max(largest, one), 0);
      for (let n = first; n < many; n++)
        if (name === 'moving.fil')
          assert.ok(Math.abs(live.values[n + shift] - batch.values[n]) < 1e-3 * most);
        else assert.equal(live.values[n + shift], batch.values[n], `${name}: value ${n}`);
    }
    const { values } = await valuesOf('live/fixed-samples.fil');
    // For IQUV a station counts with both polarisations or not at all: station 1 has no Y.
    const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
    assert.ok(mean > 0.9 * 6 && mean < 0.99 * 6 && Math.max(...values) === 6, String(mean));
  });

  it('of 8 and 16 bits come back by their scales; the header states when and where', async () => {
    const made = ['w.fil', 'b.fil', 's.fil'].map((path, n) =>
      beams(path, `towards: Cas A, every: 1ms, average-channels: 2, bits: ${[32, 8, 16][n]}`),
    );
    await observation('bits.yaml', '{ recording: sky.sigmf-meta }', made, 'front: { channels: 16 }\n');
    await ran('run', 'bits.yaml', '--into', 'bits');
    const { values, header } = await valuesOf('bits/w.fil');
    assert.equal(header.channels, 8);
    assert.equal(header.valueS, 6 / (100e3 / 16));
    assert.ok(header.channelStepHz === -2 * (100e3 / 16));
    for (const [name, bits] of [
      ['b', 8],
      ['s', 16],
    ] as const) {
      const { values: stored } = await valuesOf(`bits/${name}.fil`);
      const { beams: described, start } = JSON.parse(
        await readFile(join(folder, `bits/${name}.fil.json`), 'utf8'),
      ) as {
        readonly beams: readonly { readonly scale: readonly number[]; readonly offset: readonly number[] }[];
        readonly start: string;
      };
      assert.ok(Math.abs(secondsBetween(parseInstant(start), header.start)) < 1e-6);
      const [{ scale, offset }] = described;
      let within = 0;
      values.forEach((value, n) => {
        const level = value * scale[n % 8] + offset[n % 8];
        if (level > 0 && level < 2 ** bits - 1) {
          within++;
          assert.ok(Math.abs(stored[n] - level) <= 0.5 + 2 ** bits * 1e-6);
        } else assert.equal(stored[n], level <= 0 ? 0 : 2 ** bits - 1);
      });
      assert.ok(within > 0.98 * values.length);
    }
  });

  it('in PSRFITS are those of the filterbank; a killed run leaves whole rows', async () => {
    const made = ['f.fil', 'p.sf', 'q.sf'].map((path, n) =>
      beams(path, `towards: Cas A, every: 1ms, detection: IQUV, bits: ${[32, 32, 16][n]}`),
    );
    await observation('psrfits.yaml', '{ recording: sky.sigmf-meta }', made, 'front: { channels: 16 }\n');
    await ran('run', 'psrfits.yaml', '--into', 'psrfits');
    const [wanted, floats, sixteen] = await Promise.all(
      ['f.fil', 'p.sf', 'q.sf'].map((name) => valuesOf(join('psrfits', name))),
    );
    assert.deepEqual(floats.values, wanted.values);
    assert.ok(Math.abs(secondsBetween(wanted.header.start, floats.header.start)) < 1e-6);
    const most = wanted.values.reduce((largest, one) => Math.max(largest, Math.abs(one)), 0);
    let within = 0;
    wanted.values.forEach((one, n) => {
      if (Math.abs(sixteen.values[n] - one) < 1e-3 * most) within++;
    });
    // Others are outside the range.
    assert.ok(within > 0.99 * wanted.values.length, `${within} of ${wanted.values.length}`);
    assert.match(
      await ran('inspect', 'psrfits/q.sf', '--picture', 'q.png'),
      /PSRFITS in search mode, 16 bits/,
    );
    assert.match(await ran('inspect', 'psrfits/q.sf', '--plan'), /beams: q.sf/);
    const left = join(folder, 'psrfits', '.left.sf.99999999-0123456789ab.part');
    await copyFile(join(folder, 'psrfits', 'q.sf'), left);
    assert.match(await ran('recover', 'psrfits/left.sf'), /left.sf: \d+ values recovered/);
    for (const words of [
      ['fold', '--period', '50ms', '--dm', '0', '--bins', '16'],
      ['search', '--high-dm', '1'],
    ]) {
      const figures = await Promise.all(
        ['f.fil', 'p.sf'].map(async (name) => {
          const [verb, ...more] = words;
          return {
            ...(JSON.parse(await ran(verb, `psrfits/${name}`, ...more, '--json')) as object),
            path: 'of either',
          };
        }),
      );
      assert.deepEqual(figures[1], figures[0]);
    }
  });

  it('voltages in VDIF are the sums times one scale; their powers are those of the filterbank', async () => {
    const made = [
      beams('v.vdif', 'towards: "az 30 el 70"'),
      beams('p.fil', 'towards: "az 30 el 70", detection: "XX,YY"'),
    ];
    const more = `${common}flags: { inputs: [3] }\n`;
    await observation('vdif.yaml', '{ recording: arrived.sigmf-meta }', made, more);
    await ran('run', 'vdif.yaml', '--into', 'vdif', '--backend', 'cpu');
    const { values: powers, header } = await valuesOf('vdif/p.fil');
    const counts = await valuesOf('vdif/v-samples.fil');
    assert.deepEqual(counts.values, (await valuesOf('vdif/p-samples.fil')).values);
    const described = JSON.parse(await readFile(join(folder, 'vdif/v.vdif.json'), 'utf8')) as {
      readonly shiftS: number;
      readonly beams: readonly { readonly scale: number }[];
    };
    const file = await openFile(join(folder, 'vdif/v.vdif'), { sampleRateHz: 25e3 });
    assert.equal(file.kind, 'voltages');
    // Threads X and Y of four channels each.
    assert.equal(file.inputs, 8);
    // A frame begins on the grid of its second; samples before the first one are zeros.
    const before = Math.round((secondsBetween(file.start, header.start) + described.shiftS) * 25e3);
    assert.ok(before >= 0 && Math.abs(described.shiftS) <= 0.5 / 25e3);
    const [{ scale }] = described.beams;
    let [first, compared] = [0, 0];
    for await (const { voltages, samples } of file.blocks(1000)) {
      for (let t = 0; t < samples; t++) {
        const v = first + t - before;
        if (v < 0 || v * 8 >= powers.length) continue;
        for (let p = 0; p < 2; p++)
          for (let c = 0; c < 4; c++) {
            const at = 2 * ((p * 4 + c) * samples + t);
            const power = (voltages[at] ** 2 + voltages[at + 1] ** 2) / scale ** 2;
            const wanted = powers[(v * 2 + p) * 4 + 3 - c];
            // Rounded by half a step in each part; clipping at ±127 is smaller.
            const slack = (Math.sqrt(2 * wanted) * scale + 0.5) / scale ** 2;
            if (Math.abs(voltages[at]) < 127 && Math.abs(voltages[at + 1]) < 127) {
              assert.ok(Math.abs(power - wanted) <= slack, `${power}, not ${wanted}`);
              compared++;
            }
          }
      }
      first += samples;
    }
    assert.ok(compared > 0.99 * powers.length, `${compared} of ${powers.length}`);
    await file.close();
  });

  it('what a killed run left is made whole, and inspected', async () => {
    await observation(
      'kept.yaml',
      '{ recording: sky.sigmf-meta }',
      [beams('k.fil', 'towards: zenith')],
      'front: { channels: 4 }\n',
    );
    await ran('run', 'kept.yaml', '--into', 'killed');
    const left = join(folder, 'killed', '.left.fil.99999999-0123456789ab.part');
    await copyFile(join(folder, 'killed', 'k.fil'), left);
    await appendFile(left, Buffer.alloc(7));
    const whole = await valuesOf('killed/k.fil');
    assert.match(
      await ran('recover', 'killed/left.fil'),
      new RegExp(`left.fil: ${whole.values.length / 4} values recovered`),
    );
    assert.deepEqual(await valuesOf('killed/left.fil'), whole);
    assert.ok(!(await readdir(join(folder, 'killed'))).includes('.left.fil.99999999-0123456789ab.part'));
    assert.match(
      await ran('inspect', 'killed/k.fil', '--picture', 'k.png'),
      /towards +RA [\d.]+°, .* zenith angle 0.00°/,
    );
    assert.match(await ran('inspect', 'killed/k.fil', '--plan'), /beams: k.fil/);
  });

  it('with a taper and nulls state how deep these are and what weights cost', async () => {
    await observation(
      'nulls.yaml',
      '{ recording: sky.sigmf-meta }',
      [beams('n.fil', 'towards: zenith, nulls: [Cas A, "az 90 el 40"], taper: 40')],
      'front: { channels: 16 }\n',
    );
    const { messages } = JSON.parse(await ran('run', 'nulls.yaml', '--into', 'nulls', '--json')) as {
      readonly messages?: readonly { readonly code: string; readonly data: Record<string, number> }[];
    };
    const said = messages?.find(({ code }) => code === 'beams.weighted');
    assert.ok(said && said.data.efficiency > 0.1 && said.data.efficiency < 1 && said.data.depth < 1e-3);
    const described = JSON.parse(await readFile(join(folder, 'nulls/n.fil.json'), 'utf8')) as {
      readonly nulls: readonly string[];
      readonly beams: readonly { readonly nullDepthDb: number; readonly efficiency: number }[];
    };
    assert.deepEqual(described.nulls, ['Cas A', 'az 90 el 40']);
    assert.ok(Math.abs(described.beams[0].nullDepthDb - 10 * Math.log10(said.data.depth)) < 1e-9);
    assert.ok(!messages?.some(({ code }) => code === 'beams.inefficient'));
    // So narrow that about one in four stations is left.
    await observation(
      'narrow.yaml',
      '{ recording: sky.sigmf-meta }',
      [beams('narrow.fil', 'towards: zenith, taper: 15')],
      'front: { channels: 16 }\n',
    );
    const narrow = JSON.parse(await ran('run', 'narrow.yaml', '--into', 'nulls', '--json')) as {
      readonly messages?: readonly { readonly code: string; readonly data: Record<string, number> }[];
    };
    const lossy = narrow.messages?.find(({ code }) => code === 'beams.inefficient');
    assert.ok(lossy && lossy.data.efficiency > 0.2 && lossy.data.efficiency < 0.5, JSON.stringify(narrow));
  });

  it('refuses what cannot be', async () => {
    for (const [more, said] of [
      ['towards: For A', /For A is below the horizon/],
      ['towards: Nowhere', /'Nowhere' is no source/],
      ['towards: Sun, grid: 3x3', /products.beams.spacing: is missing/],
      ['sum: incoherent, detection: IQUV', /no phase between X and Y/],
      ['sum: incoherent, towards: Sun', /points nowhere/],
      ['towards: zenith, nulls: [zenith]', /products.beams.nulls: .*a null is within a beam/],
      ['towards: zenith, nulls: [Cas A, Cyg A, Sun, Moon]', /4 nulls need more stations than 4/],
      ['towards: zenith, nulls: [For A]', /For A is below the horizon/],
      ['towards: zenith, nulls: [Cas A], weights: 8', /8 bits leave a response/],
      ['towards: zenith, average-channels: 3', /no whole number of groups/],
      ['towards: zenith, every: 10s', /the data are shorter/],
    ] as const) {
      await observation(
        'no.yaml',
        '{ recording: sky.sigmf-meta }',
        [beams('no.fil', more)],
        'front: { channels: 4 }\n',
      );
      const { code, stderr } = await corellaHere(folder, 'run', 'no.yaml', '--into', 'no');
      assert.equal(code, 1, more);
      assert.match(stderr, said);
    }
    // No files of any of them remain.
    assert.deepEqual(await readdir(join(folder, 'no')).catch(() => []), []);
  });
});

describe('a simulated pulsar of DM 30 in noise', () => {
  // 1.2 s of 200 kHz at 150 MHz: the top of the band comes 14.8 ms before the lowest channel; a pulse lasts for 10 ms
  // of 100.
  const [bandHz, seconds, width, noiseJy, fluxJy] = [200e3, 1.2, 0.1, 1000, 20];
  const stations = 4;
  before(async () => {
    const sky = ['simulate', '--telescope', 'eda2', '--stations', String(stations), '--perfect'];
    const band = ['--frequency', '150MHz', '--rate', '200kHz', '--duration', '1200ms'];
    const pulsar = ['--sources', `psr@90:0:${fluxJy}`, '--pulsar', `psr:100ms:30:${width}`];
    await ran(...sky, ...band, ...pulsar, '--noise', String(noiseJy), '--seed', '4', '-o', 'pulsar');
  });

  /** For a boxcar of the pulse's width: signal over the noise, including the noise of the pulse itself. */
  const expected = (of: number): number => {
    const on = (of * fluxJy) / width / noiseJy;
    const samples = 2 * bandHz * seconds;
    // The deviation of all values over that of the noise (half its squared power, of two polarisations), the pulse
    // included.
    const deviation = Math.sqrt(1 - width + width * (1 + on) ** 2 + 2 * width * (1 - width) * on ** 2);
    return (on * Math.sqrt(samples * width * (1 - width))) / deviation;
  };

  it('is folded at the S/N of theory, of all stations and of one', async () => {
    const front = 'front: { channels: 32 }\n';
    const made: number[] = [];
    for (const of of [stations, 1]) {
      const more =
        of === 1
          ? `${front}flags: { inputs: [${Array.from({ length: 6 }, (_, n) => n + 2).join(', ')}] }\n`
          : front;
      await observation(`p${of}.yaml`, '{ recording: pulsar.sigmf-meta }', [beams(`p${of}.fil`)], more);
      await ran('run', `p${of}.yaml`, '--into', 'pulsar');
      const fold = async (dm: number): Promise<number> => {
        const words = ['--period', '100ms', '--dm', String(dm), '--bins', '40', '--json'];
        return (JSON.parse(await ran('fold', `pulsar/p${of}.fil`, ...words)) as { snr: number }).snr;
      };
      const snr = await fold(30);
      made.push(snr);
      // Noise alone adds one standard deviation to either.
      assert.ok(Math.abs(snr / expected(of) - 1) < 0.1, `${of}: ${snr}, not ${expected(of)}`);
      assert.ok((await fold(0)) < 0.9 * snr, 'the delays of other channels are taken out');
    }
    const gain = expected(stations) / expected(1);
    assert.ok(Math.abs(made[0] / made[1] / gain - 1) < 0.1, `${made[0]} and ${made[1]}: not ${gain} times`);
  });
  const beams = (path: string): string => `{ beams: ${path}, towards: "az 0 el 90", weights: float }`;
});
