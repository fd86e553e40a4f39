/** Channelised data in a SigMF recording. */
import { spectraSizeBytes } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { addSamples } from '../../core/instant.js';
import { createSigmfSpectra, sampleRateOf, sigmfPaths } from '../../formats/index.js';
import { gainOfFront } from '../../pipeline/compose/front.js';
import { SpectraWatch } from '../../pipeline/levels/watch-spectra.js';
import type { Rounded } from '../../pipeline/levels/watch.js';
import { oneIntegration } from '../../pipeline/stages/clock.js';
import type { TimedSpectra } from '../../pipeline/stages/spectra.js';
import { passing } from '../../pipeline/stages/stage.js';
import type { Observed, PlannedProduct } from '../product.js';
import type { Product } from '../registry.js';

export interface SpectraFacts {
  /** What rounding met, once the run is over. */
  readonly rounded: () => Rounded | undefined;
}

export function planSpectra(fields: Product<'spectra'>, observed: Observed): PlannedProduct<SpectraFacts> {
  const { recording, front, spectra, delays } = observed;
  const path = fields.spectra ?? refuse('products.spectra', 'has no path', 'name a file');
  if (delays?.towards !== undefined)
    refuse(
      'products.spectra',
      'tracked spectra would have their phases rotated, which their file cannot say',
      'leave front.delays.track out',
    );
  const { type, channels, inputs, polarisations, grid, frequenciesHz, channelWidthHz } = spectra;
  const { overUsual, levels } = gainOfFront(front);
  const watch = new SpectraWatch({ type, channels, inputs });
  const paths = sigmfPaths(path);
  const header = {
    ...{ type, inputs, polarisations, channels, frequenciesHz, channelWidthHz },
    ...{ start: grid.start, spectrumRateHz: grid.spectrumRateHz },
    ...(recording.telescope && { telescope: recording.telescope }),
    ...(spectra.realChannels > 0 && { realChannels: spectra.realChannels }),
    centreFrequencyHz:
      recording.kind === 'voltages'
        ? recording.centreFrequencyHz
        : (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2,
    ...(recording.unknownFacts && { unknownFacts: recording.unknownFacts }),
    ...(levels && { levels: Array.from(levels.factors) }),
    ...(overUsual !== undefined && { overUsual }),
  };
  return {
    ...{ name: 'spectra', clock: oneIntegration, paths, isCalibrated: false },
    sizeBytes:
      (recording.samples / sampleRateOf(recording)) *
      grid.spectrumRateHz *
      (channels * inputs * spectraSizeBytes(type)),
    facts: { rounded: () => watch.found() },
    make: async ({ history }) => {
      const writer = await createSigmfSpectra(paths[1], {
        ...header,
        history,
        description: `${channels} channels of ${recording.path}`,
      });
      const write = passing<TimedSpectra>(async ({ block, index }) => {
        const made = await block.read();
        watch.add(block, made, index);
        const start = addSamples(grid.start, index, grid.spectrumRateHz);
        await writer.append({ samples: block.samples, spectra: made, gaps: block.gaps, start });
      });
      return {
        composed: { from: 'spectra', clock: oneIntegration, stage: write },
        finish: () => writer.finish(),
        keep: async () => {
          await writer.abandon();
          return `${path}: ended early, and nothing was written`;
        },
        abandon: () => writer.abandon(),
      };
    },
  };
}
