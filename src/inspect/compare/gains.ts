/** Contents of gains for comparison: every gain and leakage, whether it is solved, and how. */
import { formatInstant } from '../../core/instant.js';
import { readGainFile, type Cards, type GainsAt, type GainsFile } from '../../formats/index.js';
import {
  factsOf,
  frequenciesPart,
  optionalPart,
  reIm,
  timePart,
  type Axis,
  type Content,
  type Part,
} from './content.js';

export async function gainContent(path: string, form: 'json' | 'calh5', cards: Cards): Promise<Content> {
  const file = await readGainFile(path);
  const {
    telescope,
    stations,
    polarisations,
    referenceStation,
    dataUnits,
    fluxScale,
    element,
    sources,
    later = [],
  } = file;
  const all = [file, ...later];
  return {
    path,
    kind: 'gains',
    format: form,
    cards,
    facts: factsOf({
      telescope,
      stations,
      polarisations,
      referenceStation,
      dataUnits,
      fluxScale,
      element,
      sources,
      times: all.length,
    }),
    // eslint-disable-next-line @typescript-eslint/require-await -- from memory
    pieces: async function* () {
      yield { at: '', parts: [frequenciesPart(file.frequenciesHz)] };
      for (const one of all) yield { at: formatInstant(one.time, 9), parts: partsOf(one, file) };
    },
    close: () => Promise.resolve(),
  };
}

function partsOf(one: GainsAt, { frequenciesHz, solved }: GainsFile): Part[] {
  const channels = frequenciesHz.length;
  const axes: readonly Axis[] = [
    { name: 'channel', size: channels },
    { name: 'input', size: solved.length / channels },
  ];
  const { crossHand } = one;
  return [
    timePart('times', one.time),
    { name: 'gains', axes: [...axes, reIm], numbers: one.gains, nature: 'measured' },
    ...optionalPart('leakage', [...axes, reIm], one.leakage, 'measured'),
    { name: 'solved', axes, numbers: one.solved, nature: 'exact' },
    {
      name: 'solutions',
      axes: [
        { name: 'solution', size: one.solutions.length },
        { name: '', size: 4, label: (k) => ['channel', 'polarisation', 'iterations', 'converged'][k] },
      ],
      numbers: Float64Array.from(
        one.solutions.flatMap(({ channel, polarisation, iterations, converged }) => [
          channel,
          polarisation,
          iterations,
          converged ? 1 : 0,
        ]),
      ),
      nature: 'exact',
    },
    {
      name: 'residuals',
      axes: [{ name: 'solution', size: one.solutions.length }],
      numbers: Float64Array.from(one.solutions, ({ residual }) => residual),
      nature: 'measured',
    },
    ...optionalPart(
      `phase between polarisations (${crossHand?.how ?? ''})`,
      [axes[0]],
      crossHand?.phaseRad,
      'measured',
    ),
  ];
}
