/** Packets packed once and sent repeatedly equal those made one by one. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { describe, it } from 'node:test';
import {
  elementsPerSpectra,
  elementsPerVoltage,
  spectraCAT,
  voltagesAT,
  type SpectraType,
  type VoltageType,
} from '../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { rational } from '../core/clock/rational.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { Source } from '../core/sources.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { testStreams } from '../packets/testing/streams.js';
import { canPace, openNativeSender, openPacedSender } from '../receive/index.js';
import { noFaults } from './faults.js';
import { sendPacked } from './packed.js';
import { sendPackets } from './send.js';

const skip = canPace() ? false : 'the native sender runs on Linux, where the native library is built';

/** Five and a bit slots, one missing for the first inputs; blocks of two slots at most. */
function recording(plan: StreamPlan): Source {
  const { inputs, channels, type, samplesPerSlot } = plan;
  const start = instant(1_782_014_400);
  const slots = [2, 2, 1];
  const left = samplesPerSlot > 1 ? 1 : 0;
  const range = type === 'i16' ? 511 : 127;
  const values = (length: number, salt: number): number[] => {
    const random = randomStream(7, plan.format, salt);
    return Array.from({ length }, () => random.below(2 * range + 1) - range);
  };
  const gap = { firstInput: 0, endInput: 1, firstSample: samplesPerSlot, endSample: samplesPerSlot + 1 };
  const pieces = slots.map((count, n) => ({
    samples: count * samplesPerSlot + (n === slots.length - 1 ? left : 0),
    isBroken: n === 1,
    n,
  }));
  const common = { inputs, polarisations: 1 as const, start, close: nothingToClose };
  if (plan.holds === 'spectra') {
    const of = type as SpectraType;
    async function* blocks(): AsyncGenerator<CanonicalSpectra> {
      for (const { samples, isBroken, n } of pieces) {
        const numbers = values(channels * inputs * samples * elementsPerSpectra(of), n);
        const spectra = of === 'ci4' ? Uint8Array.from(numbers) : Int8Array.from(numbers);
        yield await Promise.resolve({
          spectra: spectraCAT(spectra, of, channels, inputs, samples),
          samples,
          start,
          gaps: isBroken ? [{ ...gap, firstChannel: 0, endChannel: 1 }] : [],
        });
      }
    }
    const frequenciesHz = new Float64Array(channels);
    return {
      ...common,
      kind: 'spectra',
      type: of,
      channels,
      blocks,
      frequenciesHz,
      spectrumRateHz: 1,
      channelWidthHz: 1,
    };
  }
  const of = type as VoltageType;
  async function* blocks(): AsyncGenerator<VoltageBlock> {
    for (const { samples, isBroken, n } of pieces) {
      const numbers = values(inputs * samples * elementsPerVoltage(of), n);
      const voltages = of === 'i16' ? Int16Array.from(numbers) : Int8Array.from(numbers);
      yield await Promise.resolve({
        voltages: voltagesAT(voltages, of, inputs, samples),
        type: of,
        inputs,
        samples,
        start,
        gaps: isBroken ? [gap] : [],
      });
    }
  }
  return { ...common, kind: 'voltages', type: of, sampleRateHz: 1, centreFrequencyHz: 0, blocks };
}

const text = (datagram: Uint8Array): string => Buffer.from(datagram).toString('hex');

describe('packets packed once', { skip }, () => {
  for (const { plan: untimed, firstTick, session } of Object.values(testStreams)) {
    // A slot lasts 20 µs.
    const plan: StreamPlan = { ...untimed, tickRateHz: rational(50_000n * BigInt(untimed.ticksPerSlot)) };
    // Two passes and half a block, across the wrap of the clock if it has one.
    const tick =
      plan.wrapBits < 64 ? 2n ** BigInt(plan.wrapBits) - 3n * BigInt(plan.ticksPerSlot) : firstTick;
    const first = { tick, epoch: instant(0), roundedS: 0, session };
    const SLOTS = 11;
    for (const sockets of [1, 3])
      it(`${plan.format} by ${sockets} socket${sockets === 1 ? '' : 's'}: those of a sender that makes each anew`, async () => {
        const expected: string[] = [];
        let sent = 0;
        await sendPackets({
          source: recording(plan),
          plan,
          first: () => first,
          faults: noFaults,
          loop: true,
          put: ({ datagram }) => void expected.push(text(datagram)),
          until: (sinceS) => sinceS * 50_000 >= SLOTS - 0.5,
        });
        const socket = createSocket('udp4');
        await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
        const got: string[] = [];
        const all = new Promise<void>((resolve) =>
          socket.on('message', (datagram) => {
            if (got.push(text(datagram)) === expected.length) resolve();
          }),
        );
        const to = { address: '127.0.0.1', port: socket.address().port };
        const [paced, besides] = [
          openPacedSender({
            to,
            plan,
            sockets,
            packetRate: 1,
            session,
          }),
          openNativeSender({ to }),
        ];
        const summary = await sendPacked({
          source: recording(plan),
          plan,
          first: () => first,
          speed: 1,
          loop: true,
          beginNs: () => process.hrtime.bigint(),
          limitS: SLOTS / 50_000,
          isStopped: () => false,
          open: () => paced,
          describe: (descriptor) => besides.send(descriptor, descriptor.length),
          onProgress: (packets) => (sent = packets),
        });
        await all;
        for (const one of [paced, besides]) await one.close();
        socket.close();
        assert.equal(summary.slots, SLOTS);
        assert.deepEqual([summary.sent, sent], [expected.length, expected.length]);
        // Sockets do not wait for each other, nor for descriptors.
        assert.deepEqual(got.sort(), expected.sort());
        // Every pass lacks one packet.
        const perSlot = plan.sources.length * plan.fragments;
        const missing = SLOTS * perSlot - expected.length;
        assert.equal(missing, plan.format === 'spead-feng' ? 1 : 2, 'what the recording lacks is not sent');
      });
  }
});
