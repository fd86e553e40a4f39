/**
 * A file on a web server, read by byte ranges, without a local copy. The server must support ranges, and the file must
 * not change while open: size, ETag and date are checked at every response.
 */
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import type { Closable } from '../../core/closing.js';

/** A file with random access, local or remote. */
export interface InputFile extends Closable {
  readonly path: string;
  readonly sizeBytes: number;
  /** Fills `target` from `position` on; fails if the file ends before, stating how much is missing. */
  readExactly(target: Uint8Array, position: number): Promise<void>;
}

export const isRemote = (path: string): boolean => /^https?:\/\//i.test(path);

/** A request without data for this long has failed, and is repeated this many times. */
const TIMEOUT_MS = 30_000;
const WAITS_MS = [250, 1000, 4000];
/** Small reads (headers, frames) use a range that is fetched as a whole. */
const AHEAD_BYTES = 1024 * 1024;
const SMALL_BYTES = 64 * 1024;

/** What must not change, as reported by the server. */
interface RemoteIdentity {
  readonly sizeBytes: number;
  readonly etag?: string;
  readonly modified?: string;
}

/** Every remote file that this process has opened, by address: for processes that pass file identities on. */
const opened = new Map<string, RemoteIdentity>();
export const remoteIdentities = (): readonly (RemoteIdentity & { readonly url: string })[] =>
  [...opened].map(([url, identity]) => ({ url, ...identity }));

/** Whether the address is under one of these: no parent folder, no other server, however it is written. */
export function isUnder(url: string, roots: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { href, username, password } = new URL(url);
  if (username !== '' || password !== '' || /%2f|%5c|%2e/i.test(href)) return false;
  return roots.some((root) => {
    const base = new URL(root).href;
    return href === base || href.startsWith(base.endsWith('/') ? base : `${base}/`);
  });
}

export async function openRemote(url: string): Promise<InputFile> {
  if (!URL.canParse(url)) refuse(url, 'is no address', 'write it like http://host/recording.sigmf-meta');
  const identity = await identify(url);
  opened.set(url, identity);
  const { sizeBytes } = identity;
  let ahead: { readonly first: number; readonly bytes: Uint8Array } | undefined;
  return {
    path: url,
    sizeBytes,
    readExactly: async (target, position) => {
      if (target.length === 0) return;
      const end = position + target.length;
      if (end > sizeBytes)
        refuse(
          url,
          `the file ends ${formatBytes(end - sizeBytes)} too early (at byte ${sizeBytes})`,
          'it was cut short: copy it again',
        );
      if (target.length > SMALL_BYTES) {
        await fill(url, target, position, identity);
        return;
      }
      if (!ahead || position < ahead.first || end > ahead.first + ahead.bytes.length) {
        const bytes = new Uint8Array(Math.min(AHEAD_BYTES, sizeBytes - position));
        await fill(url, bytes, position, identity);
        ahead = { first: position, bytes };
      }
      target.set(ahead.bytes.subarray(position - ahead.first, end - ahead.first));
    },
    close: () => {
      ahead = undefined;
      return Promise.resolve();
    },
  };
}

/** Retries after network failures; a server's own error is final. */
async function insist<Result>(url: string, attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof CorellaError) throw error;
      const waitMs = WAITS_MS.at(tries);
      if (waitMs === undefined)
        return refuse(url, `cannot be read: ${reasonOf(error)}`, 'check the address and the network');
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as {
    readonly message?: string;
    readonly cause?: { readonly message?: string };
  };
  return cause?.message ?? message ?? String(error);
};

async function ask(url: string, first: number, last: number): Promise<Response> {
  const response = await fetch(url, {
    headers: { range: `bytes=${first}-${last}`, 'accept-encoding': 'identity' },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { status } = response;
  if (status === 206) return response;
  await response.body?.cancel();
  if (status === 200)
    refuse(
      url,
      'its server does not serve byte ranges: the whole file would be read each time',
      'put it on one that does (nginx, Apache, caddy)',
    );
  if (status >= 300 && status < 400)
    refuse(url, `leads elsewhere, to ${response.headers.get('location') ?? 'nowhere'}`, 'name that address');
  if (status === 404 || status === 410)
    refuse(url, 'there is no such file', 'check the address', 'file.not-found');
  if (status === 401 || status === 403)
    refuse(url, 'it may not be read', 'ask who keeps it', 'file.unreadable');
  if (status === 416) refuse(url, 'is empty, or shorter than it was', 'it has changed: submit again');
  if (status >= 500) throw new Error(`the server answers ${status}`);
  return refuse(url, `the server answers ${status}`, 'check the address');
}

function identityOf(url: string, response: Response): RemoteIdentity {
  const range = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  if (!range) return refuse(url, 'its server does not state its size', 'put it on another server');
  const [etag, modified] = [response.headers.get('etag'), response.headers.get('last-modified')];
  return {
    sizeBytes: Number(range[1]),
    ...(etag !== null && { etag }),
    ...(modified !== null && { modified }),
  };
}

const identify = (url: string): Promise<RemoteIdentity> =>
  insist(url, async () => {
    const response = await ask(url, 0, 0);
    await response.arrayBuffer();
    return identityOf(url, response);
  });

/** Refuses a file that has changed. */
export function checkSame(url: string, was: RemoteIdentity, is: RemoteIdentity): void {
  if (was.sizeBytes === is.sizeBytes && was.etag === is.etag && was.modified === is.modified) return;
  refuse(
    url,
    `has changed since it was opened: ${was.sizeBytes === is.sizeBytes ? 'another version of it is there' : `it has ${is.sizeBytes} bytes, and had ${was.sizeBytes}`}`,
    'begin again with what is there now',
  );
}

function fill(url: string, target: Uint8Array, position: number, identity: RemoteIdentity): Promise<void> {
  return insist(url, async () => {
    const response = await ask(url, position, position + target.length - 1);
    checkSame(url, identity, identityOf(url, response));
    let at = 0;
    for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      if (at + piece.length > target.length)
        refuse(url, 'its server sends more than it was asked for', 'put it on another server');
      target.set(piece, at);
      at += piece.length;
    }
    if (at < target.length) throw new Error(`the answer ended ${target.length - at} bytes too early`);
  });
}
