/**
 * Captures raw packets during a run into a pcap file with tcpdump, which reads them independently of the receiver at no
 * cost to it. If tcpdump is missing or not permitted, the capture is refused with its message.
 */
import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CorellaError, refuse } from '../core/errors.js';
import type { OpenedInput } from '../live/index.js';
import type { Receiver } from './commands.js';

type Listening = NonNullable<OpenedInput['listening']>;

/** The kernel's buffer for packets not yet written, KiB. */
const BUFFER_KIB = 65_536;

const wordsFor = ({ port, group, interface: by }: Listening, path: string): string[] => [
  '-i',
  by ?? 'any',
  '-n',
  '-B',
  String(BUFFER_KIB),
  '-w',
  path,
  'udp',
  'and',
  'dst',
  'port',
  String(port),
  ...(group === undefined ? [] : ['and', 'dst', 'host', group]),
];

/** One capture at a time. */
export function openCapture(
  listening: Listening,
  folder: string,
  program = 'tcpdump',
): NonNullable<Receiver['capture']> {
  let isBusy = false;
  return async (seconds, onEnd) => {
    if (isBusy) refuse('capture', 'packets are being captured already', 'wait for its end');
    isBusy = true;
    const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '');
    const path = join(folder, `capture-${stamp}Z.pcap`);
    const child = spawn(program, wordsFor(listening, path), { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    const begun = new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text: Buffer) => {
        said += text.toString();
        if (said.includes('listening on')) resolve();
      });
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(refusal(error.code === 'ENOENT' ? `${program} is not installed` : error.message));
      });
      child.once('exit', () => {
        reject(refusal(said.trim().split('\n').at(-1) ?? 'tcpdump ended at once'));
      });
    });
    child.once('close', () => {
      isBusy = false;
    });
    try {
      await begun;
    } catch (error) {
      isBusy = false;
      throw error;
    }
    // Also ends with the program: the capture is complete up to then.
    const timer = setTimeout(() => child.kill('SIGINT'), 1000 * seconds);
    timer.unref();
    child.once('close', () => {
      clearTimeout(timer);
      const dropped = /(\d+) packets? dropped by kernel/.exec(said)?.[1] ?? '0';
      void stat(path).then(
        ({ size }) => {
          onEnd(`captured ${path}: ${size} bytes, ${dropped} packets dropped by the kernel`);
        },
        () => {
          onEnd(`${path} was not written: ${said.trim().split('\n').at(-1) ?? ''}`);
        },
      );
    });
    return path;
  };
}

const refusal = (what: string): CorellaError =>
  new CorellaError({
    where: 'capture',
    what,
    fix: 'install tcpdump, and let this program use it: setcap cap_net_raw=ep, or run as root',
  });
