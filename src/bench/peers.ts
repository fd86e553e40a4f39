/** The same work by other libraries (bench/peers/), built on demand if those are installed. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import koffi from 'koffi';
import { z } from 'zod';
import { CorellaError } from '../core/errors.js';

interface PeerFunction {
  (...args: readonly unknown[]): unknown;
  async(...args: readonly unknown[]): void;
}

export interface Peers {
  /** Peers that could not be built, and what to install. */
  readonly absent: readonly { readonly name: string; readonly reason: string }[];
  /** A function of a peer by its C prototype, or undefined if the peer is absent. */
  bind(peer: string, prototype: string): PeerFunction | undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const record = z.array(
  z.union([
    z.object({ name: z.string(), library: z.string() }),
    z.object({ name: z.string(), problem: z.string() }),
  ]),
);

export async function openPeers(): Promise<Peers> {
  // Debian's OpenBLAS does not know newer processors and falls back to kernels four times slower.
  if (process.arch === 'x64') process.env.OPENBLAS_CORETYPE ??= 'SkylakeX';
  try {
    await promisify(execFile)(process.execPath, [`${root}/scripts/build-peers.js`]);
  } catch (error) {
    throw new CorellaError(
      { where: 'bench', what: 'the peers could not be built', fix: 'node scripts/build-peers.js says why' },
      { cause: error },
    );
  }
  const built = record.parse(JSON.parse(readFileSync(`${root}/build/peers/build.json`, 'utf8')));
  const libraries = new Map(
    built.flatMap((peer) => ('library' in peer ? [[peer.name, koffi.load(peer.library)]] : [])),
  );
  return {
    absent: built.flatMap((peer) => ('problem' in peer ? [{ name: peer.name, reason: peer.problem }] : [])),
    bind: (peer, prototype) => libraries.get(peer)?.func(prototype),
  };
}

/** Sets OpenBLAS's threads; returns the kernels that it selected, or undefined if it is absent. */
export function openblasOn(peers: Peers, threads: number): string | undefined {
  peers.bind('openblas', 'void peer_openblas_threads(int32_t threads)')?.(threads);
  const core = peers.bind('openblas', 'const char *peer_openblas_core()');
  return core && String(core());
}

/** Runs a peer off the event loop, as our own kernels do. */
export const callPeer = (peer: PeerFunction, ...args: readonly unknown[]): Promise<void> =>
  new Promise((resolve, reject) => {
    peer.async(...args, (error: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
