/**
 * How many samples both stations of a pair have, from presence bits: rows are combined by AND and counted by popcount.
 * A packet is lost for a whole lane, so that pairs of lanes are counted, block by block, and spread over baselines once
 * an integration. Polarisations of a station that come by lanes of their own are joined first: half a station's
 * sample is nobody's sample.
 */
import { baselineCount, type CountsCB } from '../axes.js';
import { refuse, wholeNumber } from '../errors.js';
import {
  fragmentBox,
  markSlots,
  emptyPresence,
  popcount,
  type CellLayout,
  type Presence,
} from './presence.js';

/**
 * sums[i(i + 1)/2 + j] += weight · the bits that rows i and j share; rows : [row][word].
 * Rows that lack nothing are told by their own number of bits: with little loss hardly any pair is compared.
 */
export function addSharedBits(
  sums: Float64Array,
  rows: Uint32Array,
  rowWords: number,
  bits: number,
  weight = 1,
): void {
  const count = rowWords === 0 ? 0 : rows.length / rowWords;
  const own = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    for (let w = 0; w < rowWords; w++) own[i] += popcount(rows[i * rowWords + w]);
  }
  for (let i = 0, b = 0; i < count; i++) {
    const x = i * rowWords;
    for (let j = 0; j <= i; j++, b++) {
      if (own[i] === bits) sums[b] += weight * own[j];
      else if (own[j] === bits || j === i) sums[b] += weight * own[i];
      else {
        let shared = 0;
        for (let w = 0, y = j * rowWords; w < rowWords; w++) shared += popcount(rows[x + w] & rows[y + w]);
        sums[b] += weight * shared;
      }
    }
  }
}

export interface PairShape {
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
}

/** Adds blocks up; `spread` says them of every channel and baseline. */
export interface PairCounts {
  /** The samples from `from` to before `to` of a block: an integration may end inside one, or inside a slot. */
  add(presence: Presence, from: number, to: number): void;
  /** counts[c][b] += what was added; a station whose inputs are all flagged (1) has nothing. */
  spread(counts: CountsCB, flaggedInputs?: Uint8Array): void;
  clear(): void;
}

/** Channels in which every station comes by the same rows. */
interface Run {
  readonly firstChannel: number;
  readonly endChannel: number;
  /** Which group each station belongs to; −1 where nobody sends one of its inputs. */
  readonly groupOf: Int32Array;
  /** Rows of presence of each group; all of them must be there. */
  readonly groups: readonly (readonly number[])[];
  readonly sums: Float64Array;
}

function planRuns(layout: CellLayout, shape: PairShape): Run[] {
  const { channels, stations, polarisations } = shape;
  const boxes = layout.lanes.flatMap((_, lane) =>
    Array.from({ length: layout.fragments }, (_unused, fragment) => fragmentBox(layout, lane, fragment)),
  );
  for (const box of boxes) {
    if (box.endInput > stations * polarisations || box.endChannel > channels) {
      refuse(
        'pair counts',
        `a lane reaches input ${box.endInput - 1}, channel ${box.endChannel - 1} of ${stations * polarisations} inputs, ${channels} channels`,
      );
    }
  }
  const edges = [
    ...new Set([0, channels, ...boxes.flatMap((box) => [box.firstChannel, box.endChannel])]),
  ].sort((x, y) => x - y);
  return edges.slice(0, -1).map((firstChannel, k): Run => {
    const rowOfInput = new Int32Array(stations * polarisations).fill(-1);
    boxes.forEach((box, row) => {
      if (box.firstChannel > firstChannel || box.endChannel <= firstChannel) return;
      for (let a = box.firstInput; a < box.endInput; a++) {
        if (rowOfInput[a] >= 0) {
          refuse('pair counts', `two lanes hold input ${a} of channel ${firstChannel}`, 'check the plan');
        }
        rowOfInput[a] = row;
      }
    });
    const numbers = new Map<string, number>();
    const groups: number[][] = [];
    const groupOf = new Int32Array(stations).fill(-1);
    for (let s = 0; s < stations; s++) {
      const rows = [...new Set(rowOfInput.subarray(s * polarisations, (s + 1) * polarisations))];
      if (rows.includes(-1)) continue;
      const key = rows.join(' ');
      let group = numbers.get(key);
      if (group === undefined) numbers.set(key, (group = groups.push(rows) - 1));
      groupOf[s] = group;
    }
    const sums = new Float64Array(baselineCount(groups.length));
    return { firstChannel, endChannel: edges[k + 1], groupOf, groups, sums };
  });
}

export function pairCounts(layout: CellLayout, shape: PairShape): PairCounts {
  const runs = planRuns(layout, shape);
  const { samplesPerSlot } = layout;
  return {
    add: (presence, from, to) => {
      wholeNumber('pair counts', 'from', from, 0, presence.slots * samplesPerSlot);
      wholeNumber('pair counts', 'to', to, from, presence.slots * samplesPerSlot);
      for (const part of slotParts(from, to, samplesPerSlot)) {
        const mask = emptyPresence(1, 1, presence.slots);
        markSlots(mask, 0, part.firstSlot, part.endSlot, 'present');
        for (const { groups, sums } of runs) {
          const rows = groupRows(presence, groups, mask.bits);
          addSharedBits(sums, rows, presence.rowWords, part.endSlot - part.firstSlot, part.samples);
        }
      }
    },
    spread: (counts, flaggedInputs) => {
      const dead = deadStations(shape, flaggedInputs);
      const row = new Float64Array(baselineCount(shape.stations));
      for (const { firstChannel, endChannel, groupOf, sums } of runs) {
        for (let i = 0, b = 0; i < shape.stations; i++) {
          for (let j = 0; j <= i; j++, b++) {
            const x = Math.max(groupOf[i], groupOf[j]);
            const y = Math.min(groupOf[i], groupOf[j]);
            row[b] = y < 0 || dead[i] || dead[j] ? 0 : sums[(x * (x + 1)) / 2 + y];
          }
        }
        addToChannels(counts, row, firstChannel, endChannel);
      }
    },
    clear: () => {
      for (const { sums } of runs) sums.fill(0);
    },
  };
}

/** Whole slots, and what an edge cuts off of one: at most three parts. */
function slotParts(
  from: number,
  to: number,
  samplesPerSlot: number,
): { readonly firstSlot: number; readonly endSlot: number; readonly samples: number }[] {
  if (to <= from) return [];
  const firstSlot = Math.floor(from / samplesPerSlot);
  const lastSlot = Math.floor((to - 1) / samplesPerSlot);
  if (firstSlot === lastSlot) return [{ firstSlot, endSlot: firstSlot + 1, samples: to - from }];
  const [firstWhole, endWhole] = [Math.ceil(from / samplesPerSlot), Math.floor(to / samplesPerSlot)];
  return [
    { firstSlot, endSlot: firstWhole, samples: firstWhole * samplesPerSlot - from },
    { firstSlot: firstWhole, endSlot: endWhole, samples: samplesPerSlot },
    { firstSlot: endWhole, endSlot: lastSlot + 1, samples: to - endWhole * samplesPerSlot },
  ].filter((part) => part.endSlot > part.firstSlot);
}

function groupRows(
  { bits, rowWords }: Presence,
  groups: readonly (readonly number[])[],
  mask: Uint32Array,
): Uint32Array {
  const rows = new Uint32Array(groups.length * rowWords);
  groups.forEach((members, group) => {
    for (let w = 0; w < rowWords; w++) {
      let word = mask[w];
      for (const row of members) word &= bits[row * rowWords + w];
      rows[group * rowWords + w] = word;
    }
  });
  return rows;
}

/** Whether every input of a station is flagged. */
export function deadStations(
  { stations, polarisations }: { readonly stations: number; readonly polarisations: 1 | 2 },
  flaggedInputs?: Uint8Array,
): boolean[] {
  return Array.from(
    { length: stations },
    (_, s) =>
      flaggedInputs?.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1) ===
      true,
  );
}

/** counts[c][b] += row[b] for the channels of a run. */
export function addToChannels(
  counts: CountsCB,
  row: Float64Array,
  firstChannel: number,
  endChannel: number,
): void {
  for (let c = firstChannel; c < endChannel; c++) {
    const at = c * row.length;
    for (let b = 0; b < row.length; b++) counts[at + b] += row[b];
  }
}
