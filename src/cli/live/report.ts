/** Reports of a live run: a progress line for users, one JSON object per line for machines, and the summary. */
import type { Source } from '../../core/sources.js';
import { formatBytes, formatSeconds } from '../../core/units.js';
import { isMessage, textOf, type Line } from '../../messages/index.js';
import { cardSteps, type CardAccount } from '../../backend/cuda/meter.js';
import { packetLines, type NightEvent, type NightSummary } from '../../live/index.js';
import type { FileEvent } from '../../products/index.js';
import type { ReceiveAccount } from '../../receive/index.js';
import type { CommonOptions } from '../options/command.js';
import { NoteLimit } from './note-limit.js';
import { inFlags } from '../options/in-flags.js';
import { type RunInterference, roundedLines } from '../../products/report/index.js';
import { JSON_VERSION } from '../report/json.js';
import { openTerminal } from '../report/terminal.js';

export interface Report {
  readonly say: (line: Line) => void;
  started(source: Source, description: string, backend: string): void;
  readonly event: (event: NightEvent) => void;
  readonly file: (event: FileEvent) => void;
  summary(summary: NightSummary, packets: ReceiveAccount | undefined, taken: RunInterference): void;
}

export function openReport(options: CommonOptions): Report {
  const terminal = openTerminal(options);
  const isJson = options.json === true;
  const line = (event: string, value: object): void => {
    // Packet counts and ticks may be bigints.
    const text = JSON.stringify({ event, at: new Date().toISOString(), ...value }, (_, one: unknown) =>
      typeof one === 'bigint' ? one.toString() : one,
    );
    process.stdout.write(`${text}\n`);
  };
  const limit = new NoteLimit();
  const show = (one: Line): void => {
    if (isJson) line('note', { ...(isMessage(one) ? one : { text: one }) });
    else terminal.say(one);
  };
  const say = (given: Line): void => {
    const one = inFlags(given);
    limit.takeLeft().forEach(show);
    if (limit.isShown(textOf(one))) show(one);
  };
  const seen = { integrations: 0, images: 0, empty: 0 };
  const stage = isJson ? undefined : terminal.stage('live');
  return {
    say,
    started: (source, description, backend) => {
      if (isJson)
        line('started', {
          jsonVersion: JSON_VERSION,
          from: description,
          backend,
          kind: source.kind,
          inputs: source.inputs,
          polarisations: source.polarisations,
        });
      else say(`${description}; ${backend}`);
    },
    event: (event) => {
      if (event.kind === 'weak') {
        const { rounded, type } = event;
        const advice = 'give a larger --gain, or --bits float';
        for (const text of roundedLines(rounded, { type, advice })) say(text);
        return;
      }
      if (event.kind === 'note') {
        say(event.text);
        return;
      }
      const { kind, ...rest } = event;
      if (isJson) line(kind, { ...rest });
      if (kind === 'integration') seen.integrations++;
      else if (kind === 'image') seen.images++;
      else if (kind === 'no-image') {
        // Printed once and counted: an hour without data would fill the screen.
        if (seen.empty++ === 0 && !isJson) say(`no image: ${event.why}`);
      }
      if (!isJson && kind === 'session' && event.session > 0)
        say(`stream epoch ${event.session}, from ${event.start}`);
      stage?.update({
        done: seen.images > 0 ? seen.images : seen.integrations,
        unit: seen.images > 0 ? 'images' : 'integrations',
      });
    },
    file: (event) => {
      const { kind, ...rest } = event;
      if (isJson) line('file', { what: kind, ...rest });
      else for (const text of fileLines(event)) say(text);
    },
    summary: (summary, packets, taken) => {
      limit.takeLeft('end').forEach(show);
      if (isJson) {
        const more = { ...taken.facts, packets };
        line('summary', { jsonVersion: JSON_VERSION, ...summary, ...more });
        return;
      }
      stage?.done();
      terminal.result({}, [
        ...summaryLines(summary),
        ...taken.lines,
        ...(packets ? packetLines(packets) : []),
      ]);
    },
  };
}

const LOST = 'integrations until then are lost';

function fileLines({ kind, path, integrations, why = '', to = '' }: FileEvent): string[] {
  const many = `${integrations} integration${integrations === 1 ? '' : 's'}`;
  switch (kind) {
    case 'opened':
      return [];
    case 'closed':
      return [`${path}: ${many}${why === '' ? '' : `; ${why}`}`];
    case 'full':
      return [`${path}: ${why}; it is whole and holds ${integrations}; trying again in 10 s`];
    case 'moved':
      return [`${path} was moved to ${to}, where it is whole and holds ${integrations}; a new file begins`];
    case 'many':
      return [`${path}: ${why}; no file is begun until the minute is over, and ${LOST}`];
    case 'gone':
      return [
        integrations > 0
          ? `${path} ${why}: ${many} lost; a new file begins`
          : `${path} ${why}; tried again with every integration; ${LOST}`,
      ];
  }
}

function cardLines(card: CardAccount): string[] {
  const { wallS, busyShare, seconds, blocks, copiedBlocks, uploadedBytes, downloadedBytes } = card;
  const each = cardSteps.flatMap((step) => {
    const time = seconds[step];
    return time === undefined ? [] : [`${step} ${formatSeconds(time / Math.max(1, blocks))}`];
  });
  const rate = (bytes: number): string => `${formatBytes(bytes / Math.max(1e-9, wallS))}/s`;
  return [
    `card: busy ${(100 * busyShare).toFixed(1)} % of ${formatSeconds(wallS)}; of each of ${blocks} blocks: ${each.join(', ')}`,
    `bus: ${rate(uploadedBytes)} up, ${rate(downloadedBytes)} down` +
      (copiedBlocks > 0 ? `; ${copiedBlocks} blocks copied on the host first` : ', straight from the ring'),
  ];
}

/** Below this, network delays may explain the difference. */
const NOTABLE_CLOCK_S = 0.1;

const clockLines = (aheadS: number | undefined): string[] =>
  aheadS === undefined || Math.abs(aheadS) < NOTABLE_CLOCK_S
    ? []
    : [
        aheadS < 0
          ? `packets came ${formatSeconds(-aheadS)} before their own time: the senders' clock is ahead of this machine's`
          : `packets came ${formatSeconds(aheadS)} after their own time: the senders' clock is behind this machine's, or the way is long`,
      ];

function summaryLines(summary: NightSummary): string[] {
  const { dataS, wallS, integrations, images, pictures, emptyImages, lateImages } = summary;
  const { samplesIn, missingSamples } = summary;
  const { files, unwrittenIntegrations, imageAgeS, eventLoopMs, peakMemoryBytes, sessions } = summary;
  return [
    `${formatSeconds(dataS)} of data in ${formatSeconds(wallS)}: ${integrations} integrations, ${images} images, ${pictures} drawn` +
      (emptyImages > 0 ? `, ${emptyImages} of nothing` : '') +
      (lateImages > 0 ? `, ${lateImages} images left out because the ring was nearly full` : ''),
    ...(samplesIn > 0 || missingSamples > 0
      ? [
          `${samplesIn} samples of each input, ${missingSamples} missing over all${sessions > 1 ? `; ${sessions} stream epochs` : ''}`,
        ]
      : []),
    ...(files.length > 0 ? [`files: ${files.join(', ')}`] : []),
    ...(unwrittenIntegrations > 0 ? [`${unwrittenIntegrations} integrations are in no file`] : []),
    ...(imageAgeS
      ? [
          `images were ${formatSeconds(Math.max(0, imageAgeS.median))} old when they were made, 99 % below ${formatSeconds(Math.max(0, imageAgeS.p99))}, ${formatSeconds(Math.max(0, imageAgeS.most))} at most`,
        ]
      : []),
    ...clockLines(summary.sendersClockS),
    ...(summary.card ? cardLines(summary.card) : []),
    `event loop: 99 % of its iterations took at most ${eventLoopMs.p99} ms, the longest ${eventLoopMs.most} ms; memory ${formatBytes(peakMemoryBytes)} at most`,
  ];
}
