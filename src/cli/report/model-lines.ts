/** What calibrate says of its model: how much of the sky it explains, and where sources stand that are not in it. */
import { refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import {
  MOST_UNEXPLAINED,
  SOME_UNEXPLAINED,
  type ModelCheck,
  type OutsideSource,
} from '../../stages/index.js';
import type { SourceUp } from '../../sky/above.js';

/** A catalogue's worth is told by its brightest. */
const MOST_SOURCES = 12;

export function modelLine(sources: readonly SourceUp[]): string {
  const words = sources
    .slice(0, MOST_SOURCES)
    .map(({ source, altitudeDeg }) => `${source.name} at ${altitudeDeg.toFixed(0)}°`);
  const more = sources.length - words.length;
  return `model: ${words.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Gains by a model of another sky are not written; `times` are those at which it was tried, none of them better. */
export function refuseWrongModel(
  { unexplained }: ModelCheck,
  times: number,
  asked: { readonly minBaseline?: unknown; readonly diffuse?: unknown },
): never {
  const diffuse = [
    ...(asked.diffuse === undefined ? ['put the diffuse sky into the model (--diffuse galaxy)'] : []),
    ...(asked.minBaseline === undefined ? ['leave out baselines that see it (--min-baseline 5wl)'] : []),
  ].join(' or ');
  refuse(
    'calibrate',
    `the model explains ${explained(unexplained)} of the sky's power, noise taken away${times > 1 ? `, at the best of ${times} times` : ''}: gains by it would put the sky where it is not`,
    `name what was up (--sources), ${diffuse === '' ? '' : `${diffuse}, `}check the ` +
      "telescope's positions and the time; --accept-model writes them all the same",
  );
}

const explained = (unexplained: number): string => `${(100 * (1 - unexplained)).toFixed(0)} %`;

/** Of several times, what is told is of the worst, `at` that time. */
export function modelLines(
  { unexplained, noiseResidual, left }: ModelCheck,
  outside: readonly (OutsideSource & { readonly timeUtc?: string })[],
  at?: Instant,
): string[] {
  const when = at ? `, at ${formatInstant(at)}` : '';
  return [
    ...(unexplained > MOST_UNEXPLAINED
      ? [
          `the model explains ${explained(unexplained)} of the sky's power${when}: do not believe these gains before you know why`,
        ]
      : unexplained > SOME_UNEXPLAINED
        ? [
            `the model leaves ${(100 * unexplained).toFixed(0)} % of the sky's power unexplained${when} (noise alone would leave a residual of ${(100 * noiseResidual).toPrecision(2)} %): part of the sky is not in it`,
          ]
        : Number.isNaN(unexplained) && left > SOME_UNEXPLAINED
          ? [
              `the model leaves ${(100 * left).toFixed(0)} % of the data's power${when}, and ${
                Number.isNaN(noiseResidual)
                  ? 'without autocorrelations nothing tells how much of that is noise'
                  : 'noise may be all of it or little'
              }: whether it is the right sky is not known`,
            ]
          : []),
    ...outside.map((one) =>
      isMisplaced(one) && one.overFlux < 0.2
        ? `check: ${one.name}, not in the model, is not seen at its place, where it should be bright${timeOf(one)}`
        : `check: ${one.name}, not in the model, is ${one.offsetDeg.toFixed(1)}° from its place, ${one.overFlux.toPrecision(2)} times its flux${timeOf(one)}${verdictOn(one)}`,
    ),
  ];
}

const timeOf = ({ timeUtc }: { readonly timeUtc?: string }): string =>
  timeUtc === undefined ? '' : ` (at worst, ${timeUtc})`;

/** Within a degree, or what the array resolves, it is where it belongs. */
export const isMisplaced = ({ offsetDeg, stepDeg }: OutsideSource): boolean =>
  offsetDeg > Math.max(1, 1.5 * stepDeg);

/** Of a source in its place the flux may still be its beam's or the model's fault. */
function verdictOn(one: OutsideSource): string {
  if (isMisplaced(one)) return ': the sky seems displaced, or something brighter is near';
  // Cen A's lobes are wider than most beams, which leave a third of it.
  if (one.overFlux > 2.5 || one.overFlux < 0.2)
    return ": its place is right, the scale of the model's fluxes is not";
  return '';
}
