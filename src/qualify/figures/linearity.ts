/** Output power for noise of many input levels: a straight line of the right slope, with rounding at both ends. */
import { linePlot } from '../../draw/index.js';
import { correlateSamples } from '../engines.js';
import { atMost, type Figure } from '../figure.js';
import { decibels, digitise, noise } from '../signals.js';

const LEVELS = [4, 5, 6.3, 8, 10, 12.6, 16, 20, 25, 31.5, 40] as const;
const CHANNELS = 64;
const TAPS = 8;

export const linearityFigure: Figure = {
  name: 'linearity',
  title: 'Linearity and gain',
  about:
    'White noise of 4 to 40 levels rms, rounded to 8 bits, through F- and X-engine with 8-bit spectra. The autocorrelations must follow the power put in within 0.1 dB, and its scale within 0.5 dB.',
  measure: async ({ backend, quick }) => {
    const spectra = quick ? 2048 : 16_384;
    const samples = CHANNELS * (TAPS + spectra - 1);
    // The same noise at all levels: any difference comes from the instrument.
    const unit = noise(2 * samples, 1, 'linearity');
    let unitPower = 0;
    for (const value of unit) unitPower += value * value;
    unitPower /= samples;
    const values = new Float64Array(2 * samples * LEVELS.length);
    LEVELS.forEach((level, a) => {
      values.set(digitise(unit.map((value) => level * value)), 2 * samples * a);
    });
    const { integration } = await correlateSamples(
      backend,
      {
        type: 'ci8',
        inputs: LEVELS.length,
        values,
        samples,
      },
      { channels: CHANNELS, taps: TAPS, outputType: 'ci8' },
    );
    const baselines = integration.counts.length / CHANNELS;
    const gainsDb = LEVELS.map((level, s) => {
      const auto = (s * (s + 3)) / 2;
      let sum = 0;
      let count = 0;
      for (let c = 0; c < CHANNELS; c++) {
        sum += integration.visibilities[2 * (c * baselines + auto)];
        count += integration.counts[c * baselines + auto];
      }
      return decibels(sum / count / (unitPower * level ** 2));
    });
    const mean = gainsDb.reduce((a, b) => a + b, 0) / gainsDb.length;
    return {
      checks: [
        atMost(
          `${LEVELS.length} levels, 4 … 40 rms: largest departure from a line`,
          Math.max(...gainsDb.map((db) => Math.abs(db - mean))),
          0.1,
          'dB',
        ),
        atMost('gain against the promised', Math.max(...gainsDb.map(Math.abs)), 0.5, 'dB'),
      ],
      plots: [
        {
          caption: 'Power out over power in, for noise of each level',
          picture: linePlot({
            title: 'Gain over the level of the input',
            x: { label: 'rms of the input (levels)', range: [0, 42] },
            y: { label: 'power out over power in (dB)', range: [-0.2, 0.2] },
            series: [
              { name: 'measured', x: [...LEVELS], y: gainsDb, drawn: 'dots', size: 5 },
              { name: '± 0.1 dB about the mean', x: [0, 42], y: [mean + 0.1, mean + 0.1], drawn: 'dashes' },
              { name: '', x: [0, 42], y: [mean - 0.1, mean - 0.1], drawn: 'dashes', unnamed: true },
            ],
          }),
        },
      ],
    };
  },
};
