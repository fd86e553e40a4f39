/** What was flagged, as text and as JSON: by input, channel and time, and bursts that may be astronomical. */
import { present } from '../../core/present.js';
import { formatInstant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import type { ValueFaults, VisibilityFile, VisibilityHeader } from '../../formats/index.js';
import { message, textOf, type Message } from '../../messages/index.js';
import type { FlagAccount } from '../../stages/index.js';
import { inputName } from '../../telescope/telescope.js';

/** Named if flags exceed this fraction. */
const MUCH = 0.2;
const MOST_NAMED = 6;
/** Above this fraction the data are unusual, or the threshold is too low. */
const TOO_MUCH = 0.5;

/** The entries with the largest losses as text, and the number of further ones. */
function worst(
  taken: Float64Array,
  values: Float64Array,
  nameOf: (place: number) => string,
): { readonly names: readonly string[]; readonly more: number } {
  const list = [...taken.keys()]
    .filter((k) => values[k] > 0 && taken[k] > MUCH * values[k])
    .sort((x, y) => taken[y] / values[y] - taken[x] / values[x]);
  return {
    names: list
      .slice(0, MOST_NAMED)
      .map((k) => `${nameOf(k)} ${((100 * taken[k]) / values[k]).toFixed(1)} %`),
    more: Math.max(0, list.length - MOST_NAMED),
  };
}

/** What was requested to be flagged, even if nothing matched. */
export const askedLines = ({
  rules,
  ruled,
  values,
}: Pick<FlagAccount, 'rules' | 'ruled' | 'values'>): Message[] =>
  rules === 0 ? [] : [message('flags.asked', { part: ruled === 0 ? 0 : ruled / values })];

/** `isKept`: whether bursts are kept or flagged. */
export function flagLines(
  account: FlagAccount | undefined,
  { telescope, polarisations, feeds, frequenciesHz }: VisibilityHeader,
  isKept: boolean,
): Message[] {
  if (!account) return [];
  const { values, ruled, interference, byInput, byChannel, inputValues, channelValues, bursts } = account;
  const channels = worst(byChannel, channelValues, (c) => `${c} (${formatHz(frequenciesHz[c])})`);
  const inputs = worst(byInput, inputValues, (a) => inputName(telescope, a, polarisations, feeds));
  const part = values > ruled ? interference / (values - ruled) : 0;
  return present(
    ...askedLines(account),
    account.looked &&
      message('flags.interference', { part, isNone: interference === 0 && bursts.length === 0 }),
    part > TOO_MUCH && message('flags.interference-much', { part }),
    channels.names.length > 0 &&
      message('flags.interference-channels', { channels: channels.names, more: channels.more }),

    // If every input is affected alike, channels are named instead.
    inputs.names.length > 0 &&
      inputs.more === 0 &&
      message('flags.interference-inputs', { inputs: inputs.names }),
    ...bursts.slice(0, MOST_NAMED).map(({ from, to, channels: count, ofChannels, dispersion }) =>
      message('flags.burst', {
        fromUtc: formatInstant(from, 3),
        toUtc: formatInstant(to, 3),
        channels: count,
        ofChannels,
        dispersion,
        isKept,
      }),
    ),
    bursts.length > MOST_NAMED && message('flags.more-bursts', { bursts: bursts.length - MOST_NAMED }),
  );
}

/** Empty if nothing was requested. */
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
      byTime: account.byTime.map(({ start, flagged, values }) => ({
        startUtc: formatInstant(start, 9),
        fraction: values > 0 ? flagged / values : 0,
      })),
      bursts: account.bursts.map(({ from, to, ...facts }) => ({
        fromUtc: formatInstant(from, 9),
        toUtc: formatInstant(to, 9),
        ...facts,
      })),
    },
  };
}

/** NaN, infinite or implausibly large values. */
export const faultLines = ({ faults }: VisibilityFile): Message[] =>
  present(
    faults && faults.notNumbers > 0 && message('flags.not-numbers', { values: faults.notNumbers }),
    faults && faults.outsized > 0 && message('flags.outsized', { values: faults.outsized }),
  );

export const faultFacts = ({
  faults,
}: Pick<VisibilityFile, 'faults'>): Readonly<Partial<Record<keyof ValueFaults, number>>> => ({
  ...(faults && faults.notNumbers > 0 && { notNumbers: faults.notNumbers }),
  ...(faults && faults.outsized > 0 && { outsized: faults.outsized }),
});

/** For feeds of unknown orientation, if more than intensity is requested. */
export const orientationLines = ({ polarisations, feeds, xOrientation }: VisibilityHeader): Message[] =>
  polarisations === 2 && feeds !== 'circular' && xOrientation === 'unknown'
    ? [message('feeds.orientation-unknown')]
    : [];

/** The same file with the assumed orientation. */
export const withOrientation = (file: VisibilityFile): VisibilityFile => ({
  ...file,
  assumed: [...(file.assumed ?? []), ...orientationLines(file.header).map(textOf)],
});

/** Facts missing in a file, and the assumptions made. */
export const assumedMessages = (assumed: readonly string[] = []): Message[] =>
  assumed.map((what) => message('data.assumed', { what }));

export const assumedFacts = ({ assumed }: VisibilityFile): { readonly assumed?: readonly string[] } =>
  assumed && assumed.length > 0 ? { assumed } : {};
