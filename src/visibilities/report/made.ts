/** Results of an observation of visibilities, as text and as JSON. */
import { present } from '../../core/present.js';
import { secondsBetween, type Instant } from '../../core/instant.js';
import { formatSeconds } from '../../core/units.js';
import { gainsInTime } from '../../stages/index.js';
import { message, type Line, type Message } from '../../messages/index.js';
import type { VisibilityFile } from '../../formats/index.js';
import { isProduct, type Product } from '../../products/index.js';
import { failedMessage } from '../../observation/index.js';
import type { WrittenGains } from '../products/gains.js';
import type { ImagedSeries, ImagedSky } from '../products/images.js';
import type { AppliedGains, WrittenVisibilities } from '../products/visibilities.js';
import type { MadeFromVisibilities, VisibilitiesOutcome, VisibilitiesPlan } from '../run.js';
import {
  gainsFacts,
  gainsLines,
  lackingMessages,
  assumedFacts,
  assumedMessages,
  faultFacts,
  faultLines,
  flagFacts,
  flagLines,
  withOrientation,
} from '../../products/report/index.js';
import { imagedFacts, imagedLines } from './images.js';

/** A product's own figures. */
export function madeFacts({ name, paths, facts, flags }: MadeFromVisibilities): object {
  if (name === 'visibilities') {
    const { calibrated, ...figures } = facts as WrittenVisibilities;
    const { unit, values, flagged, crossHands } = calibrated ?? {};
    return {
      ...figures,
      ...(calibrated && { unit, values, flagged, crossHands }),
      ...flagFacts(flags),
    };
  }
  if (name === 'gains') return { ...gainsFacts((facts as WrittenGains).solved), ...flagFacts(flags) };
  return { ...imagedFacts(paths, facts as ImagedSky | ImagedSeries), ...flagFacts(flags) };
}

/** The files that were written, and remarks about them. */
export function madeLines(made: MadeFromVisibilities, { plan }: VisibilitiesOutcome): Line[] {
  const { name, paths, facts, flags, failure } = made;
  if (failure) return [failedMessage(made)];
  const { observation, opened } = plan.from;
  const flagged = flagLines(flags, opened.header, observation.flags?.['keep-bursts'] === true);
  const lines =
    name === 'visibilities'
      ? writtenLines(paths[0], facts as WrittenVisibilities, plan)
      : name === 'gains'
        ? gainsLines((facts as WrittenGains).solved, paths)
        : imagedLines(paths, facts as ImagedSky | ImagedSeries);
  return [...lines, ...gainsTimes(made, plan), ...flagged];
}

/** Of gains that were applied: how far from the data they are, and how much they moved. */
function gainsTimes({ name, facts }: MadeFromVisibilities, { from: { gains } }: VisibilitiesPlan): Message[] {
  if (!gains || name === 'gains') return [];
  const span =
    name === 'visibilities'
      ? (facts as WrittenVisibilities).calibrated?.span
      : spanOf(facts as ImagedSky | ImagedSeries);
  return span ? gainsInTime(gains.file, gains.path, span) : [];
}

function spanOf(imaged: ImagedSky | ImagedSeries): { readonly start: Instant; readonly durationS: number } {
  if (imaged.kind === 'image') return imaged.sky;
  const { images } = imaged.series;
  const [{ start }, last] = [images[0], images[images.length - 1]];
  return { start, durationS: secondsBetween(start, last.start) + last.durationS };
}

export const countText = (integrations: number): string =>
  `${integrations} integration${integrations === 1 ? '' : 's'}`;

function writtenLines(
  path: string,
  { integrations, calibrated, seconds }: WrittenVisibilities,
  { from }: VisibilitiesPlan,
): Line[] {
  return [
    `${path}: ${countText(integrations)}${calibrated ? ` in ${calibrated.unit}` : ''}, ${formatSeconds(seconds)}`,
    ...(calibrated ? appliedMessages(calibrated, from.opened.header.feeds, from.gains?.path ?? '') : []),
  ];
}

function appliedMessages(
  { values, withoutGain, channels, channelsWithout, crossHands, hasLeakage }: AppliedGains,
  feeds: 'linear' | 'circular' = 'linear',
  path = '',
): Message[] {
  return present(
    withoutGain > 0 && message('gains.values-flagged', { flagged: withoutGain, of: values }),
    channelsWithout > 0 &&
      message('gains.channels-without', { path, without: channelsWithout, of: channels }),
    crossHands === 'unknown' && message('gains.cross-hands-flagged', { hasLeakage, feeds }),
  );
}

/** Requested gains that are missing: the exit code is then 2. */
export const lackingIn = ({ products }: VisibilitiesOutcome): Message[] =>
  products.flatMap(({ name, facts, failure }) =>
    name === 'gains' && !failure ? lackingMessages((facts as WrittenGains).solved) : [],
  );

/** Whether the orientation of X matters. */
const isPolarised = (product: Product): boolean =>
  isProduct('images', product)
    ? product.stokes === 'IQUV'
    : isProduct('gains', product) && (product.polarise ?? []).length > 0;

/** The source; if Q, U and V are requested or in the model, with the assumptions about the feeds. */
const sourceOf = ({ plan: { from } }: VisibilitiesOutcome): VisibilityFile =>
  from.observation.products.some(isPolarised) ? withOrientation(from.opened) : from.opened;

/** Facts common to all products. */
export function sourceFacts(outcome: VisibilitiesOutcome): object {
  const file = sourceOf(outcome);
  return { ...faultFacts(file), ...assumedFacts(file) };
}

export function sourceLines(outcome: VisibilitiesOutcome): Line[] {
  const file = sourceOf(outcome);
  return [...outcome.plan.warnings, ...assumedMessages(file.assumed), ...faultLines(file), ...outcome.orbits];
}

/** For a command, which makes one product. */
export function reportOfOne(outcome: VisibilitiesOutcome): {
  readonly facts: object;
  readonly lines: readonly Line[];
} {
  const [made] = outcome.products;
  return {
    facts: { ...madeFacts(made), ...sourceFacts(outcome) },
    lines: [...madeLines(made, outcome), ...sourceLines(outcome)],
  };
}
