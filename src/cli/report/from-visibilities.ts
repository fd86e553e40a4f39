/** What came of an observation of visibilities, for people and for machines. */
import { formatSeconds } from '../../core/units.js';
import type { VisibilityFile } from '../../formats/index.js';
import { isProduct, type Product } from '../../products/index.js';
import type {
  AppliedGains,
  ImagedSeries,
  ImagedSky,
  MadeFromVisibilities,
  VisibilitiesOutcome,
  VisibilitiesPlan,
  WrittenGains,
  WrittenVisibilities,
} from '../../visibilities/index.js';
import { gainsFacts, gainsLines, lackingLines } from './calibration-report.js';
import { assumedFacts, faultFacts, faultLines, flagFacts, flagLines, withOrientation } from './flag-lines.js';
import { imagedFacts, imagedLines } from './image-lines.js';

/** A product's own figures. */
export function madeFacts({ name, paths, facts, flags }: MadeFromVisibilities): object {
  if (name === 'visibilities') {
    const { calibrated, ...figures } = facts as WrittenVisibilities;
    const { values, flagged, crossHands } = calibrated ?? {};
    return {
      ...figures,
      ...(calibrated && { unit: 'Jy', values, flagged, ...(crossHands && { crossHands }) }),
      ...flagFacts(flags),
    };
  }
  if (name === 'gains') return { ...gainsFacts((facts as WrittenGains).solved), ...flagFacts(flags) };
  return { ...imagedFacts(paths, facts as ImagedSky | ImagedSeries), ...flagFacts(flags) };
}

/** What was written, and what one should know of it. */
export function madeLines(made: MadeFromVisibilities, { plan }: VisibilitiesOutcome): string[] {
  const { name, paths, facts, flags, failure } = made;
  if (failure) return [`${name}: failed: ${failure.message}`];
  const { observation, opened } = plan.from;
  const flagged = flagLines(flags, opened.header, observation.flags?.['keep-bursts'] === true);
  const lines =
    name === 'visibilities'
      ? writtenLines(paths[0], facts as WrittenVisibilities, plan)
      : name === 'gains'
        ? gainsLines((facts as WrittenGains).solved, paths)
        : imagedLines(paths, facts as ImagedSky | ImagedSeries);
  return [...lines, ...flagged];
}

export const countText = (integrations: number): string =>
  `${integrations} integration${integrations === 1 ? '' : 's'}`;

function writtenLines(
  path: string,
  { integrations, calibrated, seconds }: WrittenVisibilities,
  { from }: VisibilitiesPlan,
): string[] {
  return [
    `${path}: ${countText(integrations)}${calibrated ? ' in Jy' : ''}, ${formatSeconds(seconds)}`,
    ...(calibrated ? appliedLines(calibrated, from.opened.header.feeds) : []),
  ];
}

function appliedLines(
  { values, flagged, channels, channelsWithout, crossHands, hasLeakage }: AppliedGains,
  feeds: 'linear' | 'circular' = 'linear',
): string[] {
  return [
    ...(flagged > 0
      ? [`${((100 * flagged) / values).toFixed(1)} % of the values are flagged for want of a gain`]
      : []),
    ...(channelsWithout > 0
      ? [`${channelsWithout} of ${channels} channels have no gains and are flagged`]
      : []),
    ...(crossHands === 'unknown'
      ? [
          hasLeakage
            ? 'the cross hands are flagged: the model of these gains leaves a rotation of Q, U and V open, so that I alone is right'
            : `the cross hands are flagged: these gains do not know the phase between ${feeds === 'circular' ? 'R and L' : 'X and Y'} (calibrate --cross-hand)`,
        ]
      : []),
  ];
}

/** What has no gains although it was asked for: then the exit code is 2. */
export const lackingIn = ({ products }: VisibilitiesOutcome): string[] =>
  products.flatMap(({ name, facts, failure }) =>
    name === 'gains' && !failure ? lackingLines((facts as WrittenGains).solved) : [],
  );

/** Whether it matters where X points. */
const isPolarised = (product: Product): boolean =>
  isProduct('images', product)
    ? product.stokes === 'IQUV'
    : isProduct('gains', product) && (product.polarise ?? []).length > 0;

/** The source itself; where Q, U and V are asked for or in the model, with what was assumed of the feeds. */
const sourceOf = ({ plan: { from } }: VisibilitiesOutcome): VisibilityFile =>
  from.observation.products.some(isPolarised) ? withOrientation({ file: from.opened }).file : from.opened;

/** What concerns all products. */
export function sourceFacts(outcome: VisibilitiesOutcome): object {
  const file = sourceOf(outcome);
  return { ...faultFacts(file), ...assumedFacts(file) };
}

export function sourceLines(outcome: VisibilitiesOutcome): string[] {
  const file = sourceOf(outcome);
  return [...outcome.plan.warnings, ...(file.assumed ?? []), ...faultLines(file)];
}
