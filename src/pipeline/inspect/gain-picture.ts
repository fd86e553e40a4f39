/** Gains as a picture: amplitude and phase of every input over the band. */
import { formatInstant } from '../../core/instant.js';
import type { GainsFile } from '../../formats/index.js';
import { angleScale, decibelScale, drawColourBar, drawHeatMap, pictureOf } from '../../draw/index.js';
import { gainMatrices } from './gains.js';
import { frequencyAxis, heading, PICTURE_WIDTH, stepHz, TITLE_HEIGHT } from './picture-parts.js';

const SIDE = 480;

export function gainPicture(file: GainsFile, title: string): string {
  const { frequenciesHz, stations, polarisations } = file;
  const rows = stations.length * polarisations;
  const { amplitudeDb, phaseDeg } = gainMatrices(file);
  // A single channel does not say how wide it is.
  const x = frequencyAxis(frequenciesHz, stepHz(frequenciesHz, 0.001 * frequenciesHz[0]));
  const grid = {
    x,
    y: { label: 'input', range: [-0.5, rows - 0.5] as const, steps: 'whole' as const },
    rows,
    columns: frequenciesHz.length,
  };
  const panels = [
    {
      title: 'Amplitude of every gain',
      values: amplitudeDb,
      scale: decibelScale([amplitudeDb], 'amplitude (dB)'),
    },
    { title: `Phase, from ${stations[file.referenceStation]}`, values: phaseDeg, scale: angleScale },
  ];
  const parts = panels.flatMap((panel, k) => {
    const frame = { left: 100 + k * 690, top: TITLE_HEIGHT + 26, width: SIDE, height: SIDE };
    return [
      drawHeatMap({ ...grid, ...panel }, frame),
      drawColourBar(panel.scale, { ...frame, left: frame.left + SIDE + 18, width: 18 }),
    ];
  });
  const told = `gains of ${rows} inputs of ${file.telescope}, ${formatInstant(file.time, 3)}, from ${file.sources.join(', ') || 'an unnamed model'}; 0 dB is the middle`;
  return pictureOf({ width: PICTURE_WIDTH, height: TITLE_HEIGHT + SIDE + 100 }, [
    heading(title, told),
    ...parts,
  ]);
}
