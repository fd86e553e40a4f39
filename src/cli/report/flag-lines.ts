/** What was flagged, for people and for machines: by input, channel and time, and bursts that may be the sky's. */
import { formatInstant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import type { ValueFaults, VisibilityFile, VisibilityHeader } from '../../formats/index.js';
import type { FlagAccount } from '../../stages/index.js';
import { inputName } from '../../telescope/telescope.js';

const percent = (part: number, of: number): string =>
  of === 0 ? '0 %' : `${((100 * part) / of).toFixed(part / of < 0.001 && part > 0 ? 3 : 1)} %`;

/** Named where flags took more than this share of them. */
const MUCH = 0.2;
const MOST_NAMED = 6;
/** Where more is taken it is the data that are odd, or the threshold too low. */
const TOO_MUCH = 0.5;

function named(
  taken: Float64Array,
  values: Float64Array,
  nameOf: (place: number) => string,
): string | undefined {
  const list = [...taken.keys()]
    .filter((k) => values[k] > 0 && taken[k] > MUCH * values[k])
    .sort((x, y) => taken[y] / values[y] - taken[x] / values[x]);
  if (list.length === 0) return undefined;
  const shown = list.slice(0, MOST_NAMED).map((k) => `${nameOf(k)} ${percent(taken[k], values[k])}`);
  return `${shown.join(', ')}${list.length > MOST_NAMED ? ` and ${list.length - MOST_NAMED} more` : ''}`;
}

/** What someone asked to flag, also where that was nothing. */
export const askedLines = ({
  rules,
  ruled,
  values,
}: Pick<FlagAccount, 'rules' | 'ruled' | 'values'>): string[] =>
  rules === 0
    ? []
    : [
        ruled > 0
          ? `flagged as asked: ${percent(ruled, values)} of the values`
          : 'flagged as asked: nothing, for no value with weight lies there',
      ];

/** `keeps`: what became of bursts. */
export function flagLines(
  account: FlagAccount | undefined,
  { telescope, polarisations, feeds, frequenciesHz }: VisibilityHeader,
  keeps: boolean,
): string[] {
  if (!account) return [];
  const { values, ruled, interference, byInput, byChannel, inputValues, channelValues, bursts } = account;
  const channels = named(byChannel, channelValues, (c) => `${c} (${formatHz(frequenciesHz[c])})`);
  const inputs = named(byInput, inputValues, (a) => inputName(telescope, a, polarisations, feeds));
  return [
    ...askedLines(account),
    ...(account.looked
      ? [
          interference > 0 || bursts.length > 0
            ? `interference: ${percent(interference, values - ruled)} of the values flagged`
            : 'interference: none found',
        ]
      : []),
    ...(interference > TOO_MUCH * (values - ruled)
      ? [
          'interference: more than half of the data; see them with corella inspect --picture before you trust the rest',
        ]
      : []),
    ...(channels === undefined ? [] : [`interference: channels ${channels}`]),
    // Where every input is hit alike, channels say it.
    ...(inputs === undefined || inputs.includes(' more') ? [] : [`interference: inputs ${inputs}`]),
    ...bursts
      .slice(0, MOST_NAMED)
      .map(
        ({ from, to, channels: count, ofChannels, dispersion }) =>
          `a burst on most baselines alike, ${formatInstant(from, 3)} to ${formatInstant(to, 3)}, ${count} of ${ofChannels} channels` +
          (dispersion === undefined ? '' : `, sweeping like a pulse of ${dispersion.toPrecision(2)} pc/cm³`) +
          (keeps ? ': kept' : ': flagged, though it may be of the sky (--keep-bursts keeps it)'),
      ),
    ...(bursts.length > MOST_NAMED ? [`${bursts.length - MOST_NAMED} more bursts; --json lists all`] : []),
  ];
}

/** Nothing where nothing was asked for. */
export function flagFacts(account: FlagAccount | undefined): { readonly flags?: object } {
  if (!account) return {};
  const share = (taken: Float64Array, of: Float64Array): number[] =>
    Array.from(taken, (one, k) => (of[k] > 0 ? one / of[k] : 0));
  return {
    flags: {
      values: account.values,
      asked: account.ruled,
      interference: account.interference,
      byInput: share(account.byInput, account.inputValues),
      byChannel: share(account.byChannel, account.channelValues),
      byTime: account.byTime.map(({ start, taken, values }) => ({
        startUtc: formatInstant(start, 9),
        fraction: values > 0 ? taken / values : 0,
      })),
      bursts: account.bursts.map(({ from, to, ...told }) => ({
        fromUtc: formatInstant(from, 9),
        toUtc: formatInstant(to, 9),
        ...told,
      })),
    },
  };
}

/** Values that are no numbers. */
export const faultLines = ({ faults }: VisibilityFile): string[] =>
  faults && faults.notNumbers > 0
    ? [`${faults.notNumbers} value${faults.notNumbers === 1 ? ' is' : 's are'} no number: flagged`]
    : [];

export const faultFacts = ({
  faults,
}: {
  readonly faults?: ValueFaults;
}): { readonly notNumbers?: number } =>
  faults && faults.notNumbers > 0 ? { notNumbers: faults.notNumbers } : {};

/** Of feeds that nobody says the orientation of, for whoever asks for more than intensity. */
export const orientationLines = ({ polarisations, feeds, xOrientation }: VisibilityHeader): string[] =>
  polarisations === 2 && feeds !== 'circular' && xOrientation === 'unknown'
    ? [
        'nothing says where X points: taken as east, as it does here; if it points north, Q and V have the other sign',
      ]
    : [];

/** The same file, that being taken to be so. */
export const withOrientation = <Part extends { readonly file: VisibilityFile }>(part: Part): Part => ({
  ...part,
  file: { ...part.file, assumed: [...(part.file.assumed ?? []), ...orientationLines(part.file.header)] },
});

export const assumedFacts = ({ assumed }: VisibilityFile): { readonly assumed?: readonly string[] } =>
  assumed && assumed.length > 0 ? { assumed } : {};
