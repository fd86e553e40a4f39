/** Pictures of folding and searching. */
import {
  drawColourBar,
  drawHeatMap,
  linePlots,
  pictureOf,
  type ColourScale,
  type HeatMap,
  type LinePlot,
  type Picture,
} from '../draw/index.js';
import type { FilterbankHeader } from '../formats/index.js';
import { channelFrequenciesHz } from './dispersion.js';
import type { Folded } from './fold.js';
import type { Searched } from './search.js';

const scaleOf = (values: Float64Array): ColourScale => {
  const sorted = values.filter(Number.isFinite).sort();
  const [low, high] = [sorted[Math.floor(sorted.length / 100)] ?? 0, sorted[sorted.length - 1] ?? 1];
  return {
    palette: 'brightness',
    exponent: 1,
    label: 'standard deviations',
    ...(high > low ? { low, high } : { low: low - 1, high: low + 1 }),
  };
};

/** Sub-integrations and sub-bands over phase; the profile is the sum of either. */
export function foldPicture(
  folded: Folded,
  header: FilterbankHeader,
  durationS: number,
  title: string,
): Picture {
  const { bins, overTime, overFrequency } = folded;
  const frequenciesMHz = channelFrequenciesHz(header)
    .map((one) => one / 1e6)
    .sort();
  const x = { label: 'phase (turns)', range: [0, 1] as const };
  const panels: readonly HeatMap[] = [
    {
      title: `${title}: over time`,
      x,
      y: { label: 'time (s)', range: [0, durationS] as const },
      rows: overTime.length / bins,
      columns: bins,
      values: overTime,
      scale: scaleOf(overTime),
    },
    {
      title: 'over frequency',
      x,
      y: {
        label: 'frequency (MHz)',
        range: [frequenciesMHz[0], frequenciesMHz[frequenciesMHz.length - 1]] as const,
      },
      rows: overFrequency.length / bins,
      columns: bins,
      values: overFrequency,
      scale: scaleOf(overFrequency),
    },
  ];
  const { width, height, shapes } = linePlots([
    {
      title: `profile, signal-to-noise ratio ${folded.snr.toFixed(1)}`,
      x: { label: 'phase (turns)' },
      y: { label: 'standard deviations' },
      series: [
        {
          name: 'profile',
          unnamed: true,
          x: Float64Array.from({ length: bins }, (_, bin) => (bin + 0.5) / bins),
          y: folded.profile,
        },
      ],
    },
  ]);
  const frame = (k: number) => ({ left: 110, top: height + 60 + k * 420, width: 640, height: 300 });
  return pictureOf({ width, height: frame(panels.length).top }, [
    ...shapes,
    ...panels.flatMap((panel, k) => [
      ...drawHeatMap(panel, frame(k)),
      ...drawColourBar(panel.scale, { ...frame(k), left: 770, width: 18 }, { stands: 'beside' }),
    ]),
  ]);
}

/** Candidates over time and DM, if there are any, and the best of each DM. */
export function searchPicture({ candidates, dms, bestSnr }: Searched, title: string): Picture {
  const found: LinePlot = {
    title,
    x: { label: 'time (s)' },
    y: { label: 'DM (pc/cm³)', range: [dms[0], Math.max(dms[dms.length - 1], dms[0] + 1)] },
    series: [
      {
        name: 'candidates',
        drawn: 'dots',
        size: 4,
        unnamed: true,
        x: candidates.map(({ timeS }) => timeS),
        y: candidates.map(({ dm }) => dm),
      },
    ],
  };
  const best: LinePlot = {
    title: `best of each DM${candidates.length === 0 ? `, ${title}: no candidates` : ''}`,
    x: { label: 'DM (pc/cm³)' },
    y: { label: 'signal-to-noise ratio' },
    series: [{ name: 'best', unnamed: true, x: dms, y: bestSnr }],
  };
  return linePlots(candidates.length === 0 ? [best] : [found, best]);
}
