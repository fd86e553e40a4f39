/** A file of visibilities with our flags on top of its own, and an account of what they flagged. */
import { baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, type Instant } from '../../core/instant.js';
import type { VisibilityFile } from '../../formats/index.js';
import { storedOf } from '../stored.js';
import type { TimedMask } from './flag-file.js';
import { findInterference, type InterferenceSettings } from './interference.js';
import { flagCells, maskOf, type FlagRule } from './rules.js';

interface FlagPlan {
  readonly rules: readonly FlagRule[];
  readonly interference?: InterferenceSettings;
  /** Whether masks are kept, to be written: by default those of rules alone are not. */
  readonly masks?: 'keep';
}

interface BurstFacts {
  readonly from: Instant;
  readonly to: Instant;
  readonly channels: number;
  readonly ofChannels: number;
  readonly dispersion?: number;
}

/** Counts of values that had weight: all, and flagged ones. Counted anew with every reading of the file. */
export interface FlagAccount {
  /** What was requested: how many rules, and whether interference was searched for. */
  readonly rules: number;
  readonly looked: boolean;
  values: number;
  /** By rules, and by interference alone. */
  ruled: number;
  interference: number;
  /** By interference: [a], [c] and of each integration; a product counts for both of its inputs. */
  byInput: Float64Array;
  byChannel: Float64Array;
  byTime: { readonly start: Instant; readonly flagged: number; readonly values: number }[];
  /** Values of each input and channel, for the shares. */
  inputValues: Float64Array;
  channelValues: Float64Array;
  bursts: readonly BurstFacts[];
}

export interface FlaggedFile {
  readonly file: VisibilityFile;
  readonly account: FlagAccount;
  /** In the order of time, after the file was read. */
  readonly masks: readonly TimedMask[];
}

/** Memory of integrations that are searched together, with means, weights and planes: more are searched in parts. */
const MOST_BYTES = 2 ** 29;
const BYTES_A_VALUE = 48;

export function flagFile(file: VisibilityFile, plan: FlagPlan): FlaggedFile {
  const { frequenciesHz, polarisations } = file.header;
  const stations = file.telescope.stations.length;
  const channels = frequenciesHz.length;
  const asked = { rules: plan.rules.length, looked: plan.interference !== undefined };
  const account = { ...asked } as FlagAccount;
  const clear = (): void => {
    Object.assign(account, {
      values: 0,
      ruled: 0,
      interference: 0,
      byTime: [],
      byInput: new Float64Array(stations * polarisations),
      byChannel: new Float64Array(channels),
      inputValues: new Float64Array(stations * polarisations),
      channelValues: new Float64Array(channels),
    });
  };
  clear();
  account.bursts = [];
  /** Masks of interference, by the integration's number: found once. */
  const found = new Map<number, Uint8Array>();
  const masks: TimedMask[] = [];
  const together = partsOf(file.integrationCount, channels * baselineCount(stations) * polarisations ** 2);

  const look = (some: readonly Integration[], first: number): void => {
    if (!plan.interference) return;
    const { masks: flagged, bursts } = findInterference(some, frequenciesHz, plan.interference);
    flagged.forEach((mask, k) => found.set(first + k, mask));
    account.bursts = [
      ...account.bursts,
      ...bursts.map(({ firstTime, lastTime, channels: count, ofChannels, dispersion }) => ({
        from: some[firstTime].start,
        to: addSeconds(some[lastTime].start, some[lastTime].durationS),
        channels: count,
        ofChannels,
        dispersion,
      })),
    ];
  };
  const finish = (one: Integration, ruled: Uint8Array | undefined, number: number): Integration => {
    const flagged = found.get(number);
    tally(account, one, ruled, flagged);
    const mask = eitherOf(ruled, flagged);
    if (!mask) return one;
    if (plan.masks === 'keep') masks[number] = { start: one.start, durationS: one.durationS, mask };
    return mask.includes(1) ? flagCells(one, mask) : one;
  };

  return {
    account,
    masks,
    file: {
      ...file,
      integrations: async function* (memory): AsyncGenerator<Integration> {
        clear();
        if (!plan.interference) {
          let number = 0;
          for await (const one of file.integrations(memory))
            yield finish(one, maskOf(plan.rules, one), number++);
          return;
        }
        let waiting: { readonly one: Integration; readonly ruled: Uint8Array | undefined }[] = [];
        let number = 0;
        const emit = function* (): Generator<Integration> {
          if (!found.has(number))
            look(
              waiting.map(({ one, ruled }) => (ruled ? flagCells(one, ruled) : one)),
              number,
            );
          for (const { one, ruled } of waiting) yield finish(one, ruled, number++);
          waiting = [];
        };
        for await (const one of file.integrations('own')) {
          waiting.push({ one, ruled: maskOf(plan.rules, one) });
          if (found.has(number) || waiting.length === together) yield* emit();
        }
        if (waiting.length > 0) yield* emit();
      },
    },
  };
}

/** Equal parts, none larger than memory allows. */
function partsOf(count: number, values: number): number {
  const most = Math.max(1, Math.floor(MOST_BYTES / (BYTES_A_VALUE * values)));
  return Math.max(1, Math.ceil(count / Math.ceil(count / most)));
}

function tally(
  account: FlagAccount,
  one: Integration,
  ruled: Uint8Array | undefined,
  flagged: Uint8Array | undefined,
): void {
  const { channels, stations, polarisations: p } = one;
  const { weights } = storedOf(one);
  let [at, own, ownValues] = [0, 0, 0];
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < stations; i++)
      for (let j = 0; j <= i; j++)
        for (let pi = 0; pi < p; pi++)
          for (let pj = 0; pj < p; pj++, at++) {
            if (!(weights[at] > 0)) continue;
            account.values++;
            if (ruled?.[at] === 1) {
              account.ruled++;
              continue;
            }
            ownValues++;
            account.channelValues[c]++;
            account.inputValues[i * p + pi]++;
            account.inputValues[j * p + pj]++;
            if (flagged?.[at] !== 1) continue;
            own++;
            account.byChannel[c]++;
            account.byInput[i * p + pi]++;
            account.byInput[j * p + pj]++;
          }
  account.interference += own;
  account.byTime.push({ start: one.start, flagged: own, values: ownValues });
}

const eitherOf = (x: Uint8Array | undefined, y: Uint8Array | undefined): Uint8Array | undefined =>
  x && y ? x.map((flag, at) => flag | y[at]) : (x ?? y);
