/** A run with forged packets: it continues, in one file, and every packet sent is in its account. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';
import { rational } from '../core/clock/rational.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { snap2 } from '../packets/snap2.js';
import { freePort, skipSockets } from '../receive/testing/sockets.js';
import { program } from './corella.js';

const SPECTRA_A_SECOND = 1000;
const DAY = 86_400;
const SENDERS = [0, 1, 2, 3];
/** Four senders of two stations each, at 50 MHz. */
const plan = snap2.plan({
  signals: 16,
  signalsPerPacket: 4,
  channels: 4,
  channelsPerPacket: 4,
  firstChannel: 50_000,
  spectrumRateHz: rational(BigInt(SPECTRA_A_SECOND)),
});
const payload = new Uint8Array(plan.cellBytes).fill(0x12);

interface Summary {
  readonly sessions: number;
  readonly files: readonly string[];
  readonly packets: {
    readonly packets: number;
    readonly outcomes: Readonly<Record<string, number>>;
    readonly resyncs: number;
    readonly refusedResyncs: number;
    readonly surveyed?: { readonly packets: number; readonly seconds: number };
    readonly socket: { readonly kernelDrops?: number };
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether another process is bound to it. */
const isBound = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => {
      resolve(true);
    });
    socket.bind(port, '127.0.0.1', () => {
      socket.close(() => {
        resolve(false);
      });
    });
  });

const skip = await skipSockets();
describe('a run while packets are forged', { skip }, () => {
  let sent = 0;
  let code: number | null = null;
  let said = '';
  let summary: Summary | undefined;

  before(async () => {
    const port = await freePort();
    const words = ['--telescope', 'lwasv', '--stations', '8', '--rate', '1kHz', '--integration', '200ms'];
    const child = spawn(
      process.execPath,
      [program, 'live', '--listen', String(port), ...words, '--no-page', '--json', '-o', 'run.uvh5'],
      { cwd: temporaryFolder('hostile'), stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (said += data.toString()));
    const sender = createSocket('udp4');
    const send = async (packets: readonly Uint8Array[]): Promise<void> => {
      for (const packet of packets)
        await new Promise<void>((resolve, reject) => {
          sender.send(packet, port, '127.0.0.1', (error) => {
            if (error) reject(error);
            else resolve();
          });
        });
      sent += packets.length;
    };
    while (!(await isBound(port)) && child.exitCode === null) await pause(20);

    const sync = Math.floor(Date.now() / 1000);
    const at = (tick: number, senders: readonly number[], epoch: number): Uint8Array[] =>
      senders.map((sender) =>
        snap2.encode({ tick: BigInt(tick), sender, fragment: 0, session: BigInt(epoch) }, payload, plan),
      );
    let tick = 0;
    /** Sends due packets until a condition is met, or the program has ended. */
    const streamUntil = async (isDone: () => boolean): Promise<void> => {
      while (!isDone() && child.exitCode === null) {
        for (; tick < (Date.now() / 1000 - sync) * SPECTRA_A_SECOND; tick++)
          await send(at(tick, SENDERS, sync));
        await pause(5);
      }
    };
    const streamFor = (ticks: number): Promise<void> => {
      const end = tick + ticks;
      return streamUntil(() => tick >= end);
    };
    /** Two packets each with the source numbers of three senders. */
    const forge = (first: number, epoch = sync): Promise<void> =>
      send([first, first + 1].flatMap((one) => at(one, [0, 1, 2], epoch)));
    await streamUntil(() => said.includes('"started"'));
    await streamFor(500);
    await forge(2 ** 53 - 8);
    await streamFor(300);
    await forge(tick + DAY * SPECTRA_A_SECOND);
    await streamFor(300);
    await forge(tick, sync - DAY);
    await streamFor(700);
    // All is read by now: the kernel's buffer empties within milliseconds.
    await pause(300);
    child.kill('SIGINT');
    code = ((await ended) as [number | null])[0];
    sender.close();
    const last = said
      .split('\n')
      .filter((line) => line.includes('"summary"'))
      .at(-1);
    summary = last === undefined ? undefined : (JSON.parse(last) as Summary);
  });

  it('goes on in one file: 18 forged packets move nothing', () => {
    assert.equal(code, 0, said);
    assert.ok(summary);
    const { packets, sessions, files } = summary;
    assert.deepEqual([sessions, files.length, packets.resyncs], [1, 1, 0]);
    const { invalid, early, other_epoch } = packets.outcomes;
    assert.deepEqual([invalid, early, other_epoch], [6, 6, 6]);
    // Clocks that jumped away and back once ignore a second jump.
    assert.ok(packets.refusedResyncs >= 1);
  });

  it('counts every packet that was sent, those before the run began too', () => {
    assert.ok(summary, said);
    const { packets, outcomes, surveyed, socket } = summary.packets;
    const sum = Object.values(outcomes).reduce((all, count) => all + count, 0);
    assert.equal(sum, packets);
    assert.ok(surveyed && surveyed.packets > 0 && surveyed.seconds > 0);
    assert.equal(packets + surveyed.packets + (socket.kernelDrops ?? 0), sent);
    assert.match(said, new RegExp(`${surveyed.packets} packets in .* before the run began`));
  });
});
