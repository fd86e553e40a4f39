/**
 * Packets with every kind of fault, through the receiver and the correlator: the same sums as from the samples that
 * arrived.
 */
import { join } from 'node:path';
import { allocateSpectra, spectraCAT } from '../../core/axes.js';
import type { CanonicalSpectra, Integration } from '../../core/blocks.js';
import { packNibbles } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import type { SpectraSource } from '../../core/sources.js';
import { correlateSpectra } from '../../compose/index.js';
import { toCapture, noFaults, sendPackets, firstTickOf, streamFor } from '../../send/index.js';
import { receivePackets, type ReceiveAccount } from '../../receive/index.js';
import type { StreamPlan } from '../../packets/packet-format.js';
import type { Instant } from '../../core/instant.js';
import { spectraSource, START } from '../engines.js';
import { all, atLeast, reported, type Check, type Figure, type Rig } from '../figure.js';

const INPUTS = 32;
const CHANNELS = 8;
const SAMPLES = 10_000;
const SHAPE = { inputs: INPUTS, channels: CHANNELS, rateHz: 25_000 } as const;

export const liveFigure: Figure = {
  name: 'live',
  title: 'Packets: live equals batch',
  about:
    'Spectra of 4 bits leave as packets (chips) into a capture, 2 % of them lost, some doubled, out of order and damaged; the receiver’s ring makes blocks of what arrives. Its correlation must be, bit for bit, that of the samples known to have arrived, and every packet must have one outcome.',
  measure: async (rig) => {
    const source = spectraSource([someSpectra()], SHAPE);
    const plan = streamFor('chips', source);
    const first = firstTickOf(plan, START);
    const path = join(rig.folder, 'live.pcap');
    const capture = await toCapture(path, BigInt(START.unixSeconds) * 1_000_000_000n);
    const arrived: CanonicalSpectra[] = [];
    const sent = await sendPackets({
      source,
      plan,
      first: () => first,
      faults: { ...noFaults, seed: 7, lose: 0.02, duplicate: 0.01, reorder: 0.02, corrupt: 0.01 },
      put: (packet) => capture.put(packet),
      truth: ({ elements, samples, gaps, start }) => {
        const spectra = spectraCAT(Uint8Array.from(elements), 'ci4', CHANNELS, INPUTS, samples);
        arrived.push({ spectra, samples, gaps, start });
        return Promise.resolve();
      },
    });
    await capture.finish();
    const batch = await correlated(rig, spectraSource(arrived, SHAPE));
    const checks: Check[] = [reported('packets on their way', sent.sent)];
    // The ring in C++, if it is built, and the reference in TypeScript.
    for (const by of ['auto', 'typescript'] as const)
      checks.push(...checksOf(by, batch, await received(rig, by, path, plan, first.epoch)));
    return { checks };
  },
};

function checksOf(by: Ring, batch: readonly Integration[], { integrations, account }: Received): Check[] {
  const [ours, theirs] = [integrations.at(0), batch.at(0)];
  if (!ours || !theirs) throw new Error('no integration came out');
  const same = theirs.visibilities.filter((value, n) => Object.is(value, ours.visibilities[n])).length;
  const counted = theirs.counts.filter((value, n) => value === ours.counts[n]).length;
  const outcomes = Object.values(account.outcomes).reduce((sum, count) => sum + count, 0);
  const name = by === 'auto' ? 'the default ring' : 'the ring in TypeScript';
  return [
    all(`${name}: sums bit for bit`, same, theirs.visibilities.length),
    all(`${name}: weights`, counted, theirs.counts.length),
    all(`${name}: packets with one outcome`, outcomes, account.packets),
    atLeast(`${name}: cells that were lost, and known to be`, account.missingCells, 1),
  ];
}

function someSpectra(): CanonicalSpectra {
  const random = randomStream(23, 'live');
  const spectra = allocateSpectra('ci4', CHANNELS, INPUTS, SAMPLES);
  for (let n = 0; n < spectra.length; n++)
    spectra[n] = packNibbles(random.below(15) - 7, random.below(15) - 7);
  return { spectra, samples: SAMPLES, gaps: [], start: START };
}

async function correlated({ backend }: Rig, source: SpectraSource): Promise<readonly Integration[]> {
  const made: Integration[] = [];
  await correlateSpectra(source, { backend }, (one) => {
    made.push(one);
    return Promise.resolve();
  });
  return made;
}

type Ring = 'auto' | 'typescript';

interface Received {
  readonly integrations: readonly Integration[];
  readonly account: ReceiveAccount;
}

async function received(
  rig: Rig,
  by: Ring,
  path: string,
  stream: StreamPlan,
  epoch: Instant,
): Promise<Received> {
  const reception = await receivePackets({
    stream,
    from: { capture: path },
    epoch: { from: 'operator', at: epoch },
    polarisations: 2,
    by,
  });
  try {
    const integrations: Integration[] = [];
    for await (const session of reception.sessions()) {
      if (session.kind !== 'spectra') throw new Error('spectra were sent, voltages received');
      integrations.push(...(await correlated(rig, session)));
    }
    return { integrations, account: reception.account() };
  } finally {
    await reception.close();
  }
}
