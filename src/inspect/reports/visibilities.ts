/** Report of inspect for visibilities. */
import type { Integration } from '../../core/blocks.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import type { Picture } from '../../draw/index.js';
import type { VisibilityFile } from '../../formats/index.js';
import { faultFacts, faultLines } from '../../products/report/index.js';
import { fringeCollector } from '../fringes/collect.js';
import { fringesOf } from '../fringes/numbers.js';
import { antennaPicture } from '../pictures/antenna.js';
import { baselineCollector, pairNamed } from '../pictures/baseline.js';
import { flagMap } from '../pictures/flags.js';
import { fringePicture } from '../pictures/fringes.js';
import { lossMap } from '../pictures/losses.js';
import { uvCoverage } from '../pictures/uv.js';
import { visibilityPicture, withPanel } from '../pictures/visibility.js';
import { lookAtVisibilities } from '../visibilities.js';
import { fringeJson, fringeLines, wantsFringes } from './fringes.js';
import type { Report, ReportOptions } from './report.js';
import { spectrumPicture, type Spectrum } from './spectrum.js';
import { line, rowLines, visibilityLines } from './text.js';

/** Width of each of two panels side by side. */
const LOSS_WIDTH = 440;

export async function visibilityReport(
  file: VisibilityFile,
  options: ReportOptions,
): Promise<Report & { readonly start?: Instant; readonly spectrum: Spectrum }> {
  const { draw = [], baseline } = options;
  let picture: Picture | undefined;
  const ofAll = draw.includes('picture') && baseline === undefined;
  const flags = ofAll ? flagMap(file) : undefined;
  const losses = ofAll ? lossMap(file) : undefined;
  const pair = baseline === undefined ? undefined : baselineCollector(file, pairNamed(file, baseline));
  const uv = draw.includes('uv') ? uvCoverage(file) : undefined;
  const { telescope, header } = file;
  const collector = wantsFringes(options) ? fringeCollector({ ...header, telescope }, file.path) : undefined;
  const look = await lookAtVisibilities(file, {
    extent: options.whole === true || collector ? 'whole' : undefined,
    onProgress: options.onProgress,
    onFirst: (one: Integration) => {
      if (ofAll) picture = visibilityPicture(file, one, file.path);
    },
    onEach: (one: Integration) => {
      pair?.add(one);
      flags?.add(one);
      losses?.add(one);
      uv?.add(one);
      collector?.add(one);
    },
  });
  const fringes = collector && fringesOf(collector.series(), options.fringeOf);
  const { rows, frequenciesHz, spectrumDb, start, durationS, durationRangeS, absentInputs, ...read } = look;
  const spectrum = { frequenciesHz, powerDb: spectrumDb };
  const whole = pair
    ? pair.picture(file.path)
    : picture && flags && losses && withPanel(withPanel(picture, flags), losses, LOSS_WIDTH);
  return {
    start,
    json: {
      ...(start && { start, startUtc: formatInstant(start, 9), integrationS: durationS }),
      integrationRangeS: durationRangeS,
      fringes: fringes && fringeJson(fringes),
      first: rows,
      read: { ...read, ...(absentInputs.length > 0 && { absentInputs }), ...faultFacts(file) },
    },
    lines: [
      ...visibilityLines(file, look),
      ...faultLines(file).map(({ text }) => line('values', text)),
      ...rowLines(
        'first means',
        rows.map(({ stations: [i, j], product, values, flagged }) => [
          `pair ${i}, ${j} ${product}`,
          values.map((value, c) => (flagged?.includes(c) ? ('flagged' as const) : value)),
        ]),
      ),
      ...(fringes ? fringeLines(fringes) : []),
    ],
    spectrum,
    pictures: {
      ...(whole && { picture: { picture: whole } }),
      ...(draw.includes('spectrum') && { spectrum: spectrumPicture(spectrum, file.path) }),
      ...(uv && { uv: { picture: uv.picture(file.path) } }),
      ...(fringes && { fringes: { picture: fringePicture(fringes, file.path) } }),
      ...(draw.includes('map') && {
        map: { picture: antennaPicture(telescope, file.path, flaggedStations(file, look.flaggedInputs)) },
      }),
    },
  };
}

/** Stations with all inputs flagged. */
const flaggedStations = ({ header, telescope }: VisibilityFile, inputs: readonly number[]): number[] =>
  telescope.stations.flatMap((_, s) =>
    Array.from({ length: header.polarisations }, (_unused, p) => s * header.polarisations + p).every((a) =>
      inputs.includes(a),
    )
      ? [s]
      : [],
  );
