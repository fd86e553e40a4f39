/** Contents of visibilities for comparison: unphased means, weights, flags, times, uvw, positions. */
import { baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { allProductCounts } from '../../core/product-counts.js';
import type { Cards, VisibilityFile } from '../../formats/index.js';
import {
  factsOf,
  frequenciesPart,
  optionalPart,
  positionsPart,
  reIm,
  secondsPart,
  telescopeFacts,
  timePart,
  type Axis,
  type Content,
  type Part,
} from './content.js';

export function visibilityContent(file: VisibilityFile, cards: Cards): Content {
  const { telescope, frequenciesHz } = file.header;
  const header = { ...file.header, history: undefined, frequenciesHz: undefined };
  const baseline = baselineAxis(file);
  return {
    path: file.path,
    format: file.format,
    cards,
    kind: 'visibilities',
    facts: factsOf({ ...header, telescope: telescopeFacts(telescope), integrations: file.integrationCount }),
    pieces: async function* () {
      yield { at: '', parts: [positionsPart(telescope), frequenciesPart(frequenciesHz)] };
      let k = 0;
      for await (const one of file.integrations('reused'))
        yield { at: `integration ${k++}`, parts: partsOf(one, baseline) };
    },
    close: () => file.close(),
  };
}

function baselineAxis({ telescope: { stations } }: VisibilityFile): Axis {
  const names: string[] = [];
  for (const [i, one] of stations.entries())
    for (const other of stations.slice(0, i + 1)) names.push(`${one.name}–${other.name}`);
  return { name: 'baseline', size: baselineCount(stations.length), label: (b) => names[b] };
}

function partsOf(one: Integration, baseline: Axis): Part[] {
  const { polarisations: p, channels, passThrough } = one;
  const product: Axis = {
    name: 'product',
    size: p * p,
    label: (k) => (p === 1 ? '0' : `${Math.floor(k / 2)}${k % 2}`),
  };
  const cells: readonly Axis[] = [{ name: 'channel', size: channels }, baseline, product];
  // A pair stored twice for one time has no single value: sums are compared.
  const signed: Float64Array = passThrough?.weights ?? allProductCounts(one);
  return [
    timePart('times', one.start),
    secondsPart('durations', one.durationS),
    {
      name: 'values',
      axes: [...cells, reIm],
      numbers: passThrough?.means ?? one.visibilities,
      nature: 'measured',
    },
    { name: 'weights', axes: cells, numbers: signed.map(Math.abs), nature: 'counted' },
    {
      name: 'flags',
      axes: cells,
      numbers: Uint8Array.from(signed, (weight) => (weight > 0 ? 0 : 1)),
      nature: 'exact',
    },
    ...optionalPart('durations of pairs', [baseline], passThrough?.integrationS, 'exact'),
    ...optionalPart('pairs present', [baseline], one.pairs, 'exact'),
    ...optionalPart(
      'uvw',
      [baseline, { name: '', size: 3, label: (k) => 'uvw'[k] }],
      passThrough?.stopped?.uvwM,
      'measured',
    ),
  ];
}
