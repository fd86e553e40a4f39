/** A KrakenSDR as the input of a live run. */
import { parseInstant, formatInstant } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import { refuse } from '../core/errors.js';
import { KrakenStream, type KrakenAccount, type KrakenAddress } from '../formats/index.js';
import { NoiseSource } from './noise-source.js';
import type { InputSettings, OpenedInput, StreamAccount } from './opened-input.js';

export function openKraken(
  address: KrakenAddress,
  { observation: { source: options }, telescope, say }: InputSettings,
): OpenedInput {
  for (const field of ['sample-type', 'meta'] as const)
    if (options[field] !== undefined)
      refuse(`source.${field}`, 'is for plain samples, and a KrakenSDR describes its own', 'leave it out');
  const noise = new NoiseSource((frame) => frame.sampleRateHz ?? options.rate, say);
  const stream = new KrakenStream({
    address,
    polarisations: options.polarisations ?? telescope?.polarisations ?? 1,
    inputs: options.inputs,
    sampleRateHz: options.rate,
    frequencyHz: options.frequency,
    start: options.start === undefined ? undefined : parseInstant(options.start, 'source.start'),
    say,
    onNoise: noise.see,
  });
  const { host, port, version } = address;
  if (version === 2)
    say(
      'this version of the protocol has no counter: lost packets cannot be seen, and samples are assumed to be contiguous',
    );
  return {
    description: `KrakenSDR at ${host}:${port}, version ${version}`,
    telescope,
    isLive: options.start === undefined,
    sessions: () => stream.sources(),
    stop: () => {
      stream.stop();
    },
    close: () => stream.close(),
    noise: () => noise.solved,
    stream: (): StreamAccount => {
      noise.finish();
      return {
        lines: krakenLines(stream.account),
        facts: {
          ...stream.account,
          skippedFrames: stream.account.skippedFrames ?? 'unknown',
          start: stream.account.start && formatInstant(stream.account.start, 6),
          noiseSource: noise.solved.map(({ time, frames, frequencyHz, solution }) => ({
            time: formatInstant(time, 3),
            frames,
            frequencyHz,
            ...solution,
          })),
        },
      };
    },
  };
}

function krakenLines(account: KrakenAccount): string[] {
  const { frames, usedFrames, skippedFrames, damagedHeaders, cutFrames, overdrivenFrames, start } = account;
  const received = Object.entries(frames).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind}`] : []));
  const unused = [
    [account.unsynchronisedFrames, 'not synchronised'],
    [account.retunedFrames, 'of another tuning'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]));
  const overdriven = overdrivenFrames.flatMap((count, a) => (count > 0 ? [`channel ${a} in ${count}`] : []));
  return [
    `KrakenSDR frames: ${received.length === 0 ? 'none' : received.join(', ')}; ${usedFrames} used (${account.usedSamples} samples of each input)${unused.length === 0 ? '' : `; not used: ${unused.join(', ')}`}`,
    skippedFrames === undefined
      ? `lost packets cannot be seen in this protocol${behindWords(account)}`
      : `${skippedFrames} frames skipped by the receiver's counter${damagedHeaders > 0 ? `, ${damagedHeaders} of them with a damaged header` : ''}`,
    ...(skippedFrames === undefined && damagedHeaders > 0 ? [`${damagedHeaders} damaged packets`] : []),
    ...(cutFrames > 0 ? [`${cutFrames} frames cut by the end of a connection`] : []),
    ...(account.invalidFrames > 0 ? [`${account.invalidFrames} invalid frames, left out`] : []),
    ...(account.restarts > 0 ? [`samples were counted anew ${account.restarts} times`] : []),
    ...(account.retunings > 0 ? [`retuned ${account.retunings} times`] : []),
    ...(overdriven.length > 0 ? [`overdriven frames: ${overdriven.join(', ')}`] : []),
    ...(start
      ? [
          `first sample at ${formatInstant(start, 3)}${account.startUncertaintyS ? `, to about ${formatSeconds(account.startUncertaintyS)}` : ''}`,
        ]
      : []),
  ];
}

/** By the wall clock, so buffers add uncertainty. */
function behindWords({ behindClockS }: KrakenAccount): string {
  if (behindClockS === undefined) return '';
  const ms = Math.round(1000 * behindClockS);
  return `; by the clock ${ms >= 0 ? `${ms} ms more passed than samples came` : `samples came ${-ms} ms ahead of the clock`}`;
}
