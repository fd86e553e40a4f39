/** The account of every packet as text. */
import { formatSeconds } from '../core/units.js';
import { surveyedLine } from './packets.js';
import {
  hasDuplicateId,
  leftOutWords,
  outcomes,
  type Outcome,
  type ReceiveAccount,
} from '../receive/index.js';

type Sender = ReceiveAccount['senders'][number];

const words: Readonly<Record<Outcome, string>> = {
  placed: 'placed',
  duplicate: 'twice',
  late: 'too late',
  early: 'too early',
  other_epoch: "of another epoch than the array's",
  misaligned: 'between slots',
  unknown_source: 'of unknown senders',
  invalid: 'damaged or of another kind',
  control: 'control',
  ring_full: 'dropped, since the chain was too slow',
};

/**
 * Received packets that are in no sum, by kind, the most frequent first; since an earlier account. Duplicates were
 * placed once, and control packets have no slot.
 */
export const notPlaced = (
  now: ReceiveAccount['outcomes'],
  before: ReceiveAccount['outcomes'],
): { readonly count: number; readonly what: string }[] =>
  outcomes
    .filter((name) => name !== 'placed' && name !== 'duplicate' && name !== 'control')
    .map((name) => ({ count: now[name] - before[name], what: words[name] }))
    .filter(({ count }) => count > 0)
    .sort((x, y) => y.count - x.count);

export const duplicateIdLine = ({ name, duplicateIdPackets }: Sender): string =>
  `${name}: ${duplicateIdPackets} packets with this ID have another clock, and are left out: two senders share the ID, or one arrives by two paths`;

export const refusedLine = (count: number): string =>
  `the senders' clocks jumped ${count} time${count === 1 ? '' : 's'} to a time that is not followed: before the running stream, too far ahead of it, or too often in a minute; followed once all senders confirm it for 10 s`;

export function packetLines(account: ReceiveAccount): string[] {
  const {
    packets,
    outcomes: counts,
    missingCells,
    skippedBlocks,
    resyncs,
    refusedResyncs,
    senders,
    socket,
    untimedBlocks,
  } = account;
  const { ring, edgeCells, endsEarly, leftOut } = account;
  const others = outcomes
    .filter((name) => name !== 'placed' && counts[name] > 0)
    .map((name) => `${counts[name]} ${words[name]}`);
  const worst = [...senders].sort((x, y) => y.missingCells - x.missingCells)[0];
  return [
    ...(endsEarly ? [`the capture ends early, at byte ${endsEarly.atByte}: ${endsEarly.why}`] : []),
    ...(leftOut ? [`left out of the capture: ${leftOutWords(leftOut).join(', ')}`] : []),
    ...(account.surveyed ? [surveyedLine(account.surveyed)] : []),
    `${packets} packets: ${[`${counts.placed} placed`, ...others].join(', ')}`,
    `${missingCells} packets missing` +
      (missingCells > 0 ? `; most of ${worst.name}: ${worst.missingCells}` : '') +
      (edgeCells > 0 ? `; ${edgeCells} of them before the first and after the last that arrived` : '') +
      (skippedBlocks > 0 ? `; ${skippedBlocks} blocks without any packet` : ''),
    ...senders.filter((one) => hasDuplicateId(one)).map(duplicateIdLine),
    ...(resyncs > 0
      ? [`the clocks of the senders were reset ${resyncs} time${resyncs === 1 ? '' : 's'}`]
      : []),
    ...(refusedResyncs > 0 ? [refusedLine(refusedResyncs)] : []),
    ...(untimedBlocks > 0 ? [`${untimedBlocks} blocks left out, their time unknown`] : []),
    ...(socket?.kernelDrops !== undefined && socket.kernelDrops > 0
      ? [`${socket.kernelDrops} datagrams found the socket's buffer full`]
      : []),
    ...(ring ? [`ring: ${ring.leastFree} of ${ring.blocks} blocks free at its fullest`] : []),
    ...(socket?.threadS === undefined
      ? []
      : [`receive thread: ${formatSeconds(socket.threadS)} of processor`]),
  ];
}
