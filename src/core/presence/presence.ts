/**
 * Which packets arrived, one bit per packet slot. A sender is a source (a board, a digitiser, a VDIF thread), a fragment
 * a part of its band, a slot a step in time. Rows are padded to whole 64-bit words, so that native code reads the same
 * memory as `uint64_t [sender][fragment][word]`, lowest bit first.
 */
import { refuse, wholeNumber } from '../errors.js';
import type { SpectraGap } from '../gaps.js';

/** The range of inputs and channels that one kind of packet or frame fills. */
export interface SenderRange {
  readonly firstInput: number;
  readonly endInput: number;
  readonly firstChannel: number;
  readonly endChannel: number;
}

/** Senders of `inputsEach` inputs of `channels` channels each, side by side. */
export const sendersSideBySide = (count: number, inputsEach: number, channels: number): SenderRange[] =>
  Array.from({ length: count }, (_, sender) => ({
    firstInput: sender * inputsEach,
    endInput: (sender + 1) * inputsEach,
    firstChannel: 0,
    endChannel: channels,
  }));

/**
 * Layout of a block's packet slots. Fragment f of a sender holds the sender's channels, shifted by f times their number.
 */
export interface CellLayout {
  /** The range of fragment 0 of each sender. */
  readonly senders: readonly SenderRange[];
  readonly fragments: number;
  readonly samplesPerSlot: number;
}

export interface Presence {
  readonly senders: number;
  readonly fragments: number;
  readonly slots: number;
  /** 32-bit words per row; even. */
  readonly rowWords: number;
  /** bits : [sender][fragment][word], slot s at bit s mod 32 of word ⌊s/32⌋; 0 beyond the last slot. */
  readonly bits: Uint32Array;
}

export const presenceRowWords = (slots: number): number => 2 * Math.ceil(slots / 64);

/** All slots missing. `bits` may be the caller's memory if it has the right length. */
export function emptyPresence(
  senders: number,
  fragments: number,
  slots: number,
  bits = new Uint32Array(senders * fragments * presenceRowWords(slots)),
): Presence {
  const rowWords = presenceRowWords(wholeNumber('presence', 'slots', slots, 0, 2 ** 31));
  const words = senders * fragments * rowWords;
  if (bits.length !== words) {
    refuse(
      'presence',
      `${bits.length} words where ${senders} × ${fragments} rows of ${slots} bits take ${words}`,
    );
  }
  return { senders, fragments, slots, rowWords, bits };
}

export const rowOf = ({ fragments }: Presence, sender: number, fragment: number): number =>
  sender * fragments + fragment;

export function isPresent(presence: Presence, row: number, slot: number): boolean {
  return ((presence.bits[row * presence.rowWords + (slot >>> 5)] >>> (slot & 31)) & 1) === 1;
}

/** Sets or clears the slots in [from, to) of a row. */
export function markSlots(
  presence: Presence,
  row: number,
  from: number,
  to: number,
  as: 'present' | 'missing',
): void {
  if (row < 0 || row >= presence.senders * presence.fragments || from < 0 || to > presence.slots) {
    refuse('presence', `row ${row}, slots ${from} to ${to} lie outside`, 'check the plan');
  }
  const start = row * presence.rowWords;
  for (let word = from >>> 5; word * 32 < to; word++) {
    const mask = bitsBetween(from - word * 32, to - word * 32);
    if (as === 'present') presence.bits[start + word] |= mask;
    else presence.bits[start + word] &= ~mask;
  }
}

/** The bits [from, to) of one word, from < 32; either end may be outside it. */
function bitsBetween(from: number, to: number): number {
  const upTo = to >= 32 ? -1 : (1 << Math.max(0, to)) - 1;
  const below = from <= 0 ? 0 : (1 << from) - 1;
  return upTo & ~below;
}

/** Ones in a word: sums of pairs, nibbles and bytes in parallel, then the sum of all bytes by one product. */
export function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x5555_5555);
  x = (x & 0x3333_3333) + ((x >>> 2) & 0x3333_3333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** The range of one fragment of a sender. */
export function fragmentRange({ senders }: CellLayout, sender: number, fragment: number): SenderRange {
  const box = senders[sender];
  const shift = fragment * (box.endChannel - box.firstChannel);
  return { ...box, firstChannel: box.firstChannel + shift, endChannel: box.endChannel + shift };
}

function checkShape(presence: Presence, layout: CellLayout): void {
  if (presence.senders !== layout.senders.length || presence.fragments !== layout.fragments) {
    refuse(
      'presence',
      `${presence.senders} senders of ${presence.fragments} fragments where the plan has ${layout.senders.length} of ${layout.fragments}`,
    );
  }
}

/** The missing data as gaps; the same hole in neighbouring fragments or senders is one gap. */
export function gapsOfPresence(presence: Presence, layout: CellLayout): SpectraGap[] {
  checkShape(presence, layout);
  const { samplesPerSlot } = layout;
  const gaps: SpectraGap[] = [];
  /** Index of the last gap with these times. */
  const latest = new Map<string, number>();
  for (let sender = 0; sender < presence.senders; sender++) {
    for (let fragment = 0; fragment < presence.fragments; fragment++) {
      const box = fragmentRange(layout, sender, fragment);
      for (const [from, to] of holesOf(presence, rowOf(presence, sender, fragment))) {
        const gap = { ...box, firstSample: from * samplesPerSlot, endSample: to * samplesPerSlot };
        const times = `${from} ${to}`;
        const before = latest.get(times);
        if (before !== undefined && continues(gaps[before], gap)) {
          gaps[before] = { ...gaps[before], endInput: gap.endInput, endChannel: gap.endChannel };
        } else {
          latest.set(times, gaps.push(gap) - 1);
        }
      }
    }
  }
  return joinSenders(gaps);
}

/** Joins the fragments of each sender first, then whole senders with the same hole. */
function joinSenders(gaps: readonly SpectraGap[]): SpectraGap[] {
  const joined: SpectraGap[] = [];
  const latest = new Map<string, number>();
  for (const gap of gaps) {
    const times = `${gap.firstSample} ${gap.endSample} ${gap.firstChannel} ${gap.endChannel}`;
    const before = latest.get(times);
    if (before !== undefined && joined[before].endInput === gap.firstInput) {
      joined[before] = { ...joined[before], endInput: gap.endInput };
    } else {
      latest.set(times, joined.push(gap) - 1);
    }
  }
  return joined;
}

const continues = (a: SpectraGap, b: SpectraGap): boolean =>
  a.firstInput === b.firstInput && a.endInput === b.endInput && a.endChannel === b.firstChannel;

/** [from, to) of each run of missing slots. */
export function holesOf(presence: Presence, row: number): [number, number][] {
  const holes: [number, number][] = [];
  const start = row * presence.rowWords;
  let from = -1;
  for (let slot = 0; slot < presence.slots; slot++) {
    const word = presence.bits[start + (slot >>> 5)];
    // Skips whole words that change nothing.
    if ((slot & 31) === 0 && word === (from < 0 ? 0xffff_ffff : 0)) {
      slot += 31;
      continue;
    }
    const there = ((word >>> (slot & 31)) & 1) === 1;
    if (!there && from < 0) from = slot;
    else if (there && from >= 0) {
      holes.push([from, slot]);
      from = -1;
    }
  }
  if (from >= 0) holes.push([from, presence.slots]);
  return holes;
}
