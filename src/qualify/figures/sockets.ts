/** Packets by loopback in real time, through the whole live chain: no loss, small image delays, the event loop free. */
import { allocateSpectra } from '../../core/axes.js';
import type { CanonicalSpectra } from '../../core/blocks.js';
import { closingAfter } from '../../core/closing.js';
import { instant } from '../../core/instant.js';
import { packNibbles } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import type { SpectraSource } from '../../core/sources.js';
import { LiveProducts, planLive, runEpochs, type NightSummary, rehearse } from '../../live/index.js';
import { sendPacked, firstTickOf, streamFor } from '../../send/index.js';
import { canPace, openPacedSender, receivePackets, type ReceiveAccount } from '../../receive/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { selectStations } from '../../telescope/select.js';
import { spectraSource, START } from '../engines.js';
import { all, atLeast, atMost, reported, type Figure, type Rig } from '../figure.js';

const STATIONS = 16;
const CHANNELS = 32;
const RATE_HZ = 25_000;
const IMAGE_S = 0.1;
/** Sent repeatedly. */
const TURN_SAMPLES = 25_000;
const SHORT_SAMPLES = 5000;
/** Time for preparation before the first packet is sent. */
const BEFORE_S = 2;
const MOST_AGE_S = 0.4;
const MOST_LOOP_MS = 20;

export const socketsFigure: Figure = {
  name: 'sockets',
  title: 'An observation by loopback, in real time',
  about: `Spectra of ${STATIONS} stations and ${CHANNELS} channels leave as packets (chips, 205 Mb/s) by one socket and come in by another, are correlated and imaged every ${1000 * IMAGE_S} ms, sender and receiver on this machine. Whatever is too slow shows as packets lost, images late or an event loop that is held.`,
  onRequest: true,
  measure: async (rig) => {
    if (!canPace())
      return {
        checks: [],
        remarks: ['not measured: packets at this rate need the native library, on Linux'],
      };
    const seconds = rig.quick ? 5 : 20;
    const { sent, account, summary } = await loopback(rig, seconds);
    const lost = account.outcomes.ring_full + (account.socket?.kernelDrops ?? 0);
    const megabits = (8 * account.bytes) / seconds / 1e6;
    return {
      checks: [
        reported('rate', megabits, 'Mb/s'),
        all('packets that were placed', account.outcomes.placed, sent),
        atMost('packets that found no room', lost, 0),
        // The first and the last may be incomplete.
        atLeast('images', summary.images, seconds / IMAGE_S - 1),
        atMost('age of images, 99 of 100', summary.imageAgeS?.p99 ?? NaN, MOST_AGE_S, 's'),
        reported('age of images, median', summary.imageAgeS?.median ?? NaN, 's'),
        atMost('event loop held, 99 of 100', summary.eventLoopMs.p99, MOST_LOOP_MS, 'ms'),
      ],
    };
  },
};

interface Loopback {
  readonly sent: number;
  readonly account: ReceiveAccount;
  readonly summary: NightSummary;
}

const loopback = ({ backend }: Rig, seconds: number): Promise<Loopback> =>
  closingAfter(async (closers) => {
    const source = noise(TURN_SAMPLES);
    const stream = streamFor('chips', source);
    const { frequenciesHz, channelWidthHz } = source;
    const telescope = selectStations(await loadTelescope('lwasv'), STATIONS);
    const observation: Parameters<typeof planLive>[0] = {
      corella: 1,
      source: { listen: '127.0.0.1:4015' },
      products: [{ images: null, every: IMAGE_S, align: 'utc', pixels: 128 }],
    };
    const machine = { backend, description: 'noise', data: 'wait' } as const;
    const silence = noise(SHORT_SAMPLES);
    const plan = await planLive(observation, silence, telescope, machine);
    // As in `live`: kernels are compiled before data can be lost.
    await rehearse(silence, { backend, plan });
    const begin = instant(Math.ceil(Date.now() / 1000) + BEFORE_S);
    const first = firstTickOf(stream, begin);
    const address = '127.0.0.1';
    const reception = closers.keep(
      await receivePackets({
        stream,
        from: { listen: { address, port: 0 } },
        epoch: { from: 'operator', at: first.epoch },
        band: { frequenciesHz, channelWidthHz },
        polarisations: 2,
      }),
    );
    const to = { address, port: reception.account().socket?.port ?? 0 };
    const packetRate = stream.sources.length * stream.fragments * RATE_HZ;
    const sender = closers.keep(openPacedSender({ to, plan: stream, packetRate }));
    const watched = runEpochs({
      input: {
        sessions: () => reception.sessions(),
        stop: () => {
          reception.stop();
        },
      },
      onEvent: () => undefined,
      prepare: () => Promise.resolve({ products: new LiveProducts({ backend, plan }) }),
    });
    const sent = await sendPacked({
      source,
      plan: stream,
      speed: 1,
      loop: true,
      limitS: seconds,
      first: () => first,
      beginNs: () =>
        process.hrtime.bigint() + BigInt(Math.round(1e6 * (1000 * begin.unixSeconds - Date.now()))),
      isStopped: () => false,
      open: () => sender,
      describe: () => Promise.resolve(),
      onProgress: () => undefined,
    });
    // The data in the socket's buffer must still be read.
    await new Promise((resolve) => setTimeout(resolve, 500));
    reception.stop();
    const summary = await watched;
    return { sent: sent.sent, account: reception.account(), summary };
  });

function noise(samples: number): SpectraSource {
  const inputs = 2 * STATIONS;
  const random = randomStream(29, 'sockets');
  const spectra = allocateSpectra('ci4', CHANNELS, inputs, samples);
  // A megabyte, used repeatedly.
  const some = Uint8Array.from({ length: 2 ** 20 }, () =>
    packNibbles(random.below(9) - 4, random.below(9) - 4),
  );
  for (let at = 0; at < spectra.length; at += some.length)
    spectra.set(some.subarray(0, Math.min(some.length, spectra.length - at)), at);
  const block: CanonicalSpectra = { spectra, samples, gaps: [], start: START };
  return spectraSource([block], { inputs, channels: CHANNELS, rateHz: RATE_HZ });
}
