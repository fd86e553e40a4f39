/** Who may ask what: our own names alone, a token for whatever changes something and for all that comes from elsewhere. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';
import { refuse } from '../core/errors.js';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const ANYWHERE = ['0.0.0.0', '::', '[::]'];
const LEAST_TOKEN = 16;

/** Set by proxies: who asks is not who connects. */
const FORWARDING = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
] as const;

/** Whether a proxy passed the request on. nginx sets no header by default, but speaks HTTP/1.0, which no browser does. */
export const isForwarded = ({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean =>
  FORWARDING.some((name) => headers[name] !== undefined) ||
  httpVersionMajor < 1 ||
  (httpVersionMajor === 1 && httpVersionMinor === 0);

const isAnywhere = (host: string): boolean => ANYWHERE.includes(host);
export const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|\[?::1\]?$)/i.test(host);

/** A name by which a page that listens there is reached: an address of this machine where it listens on all of them. */
export function reachableName(host: string): string {
  const others = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ internal }) => !internal),
  );
  const found = isAnywhere(host)
    ? (others.find(({ family }) => family === 'IPv4')?.address ?? '127.0.0.1')
    : host;
  return found.includes(':') && !found.startsWith('[') ? `[${found}]` : found;
}

export const makeToken = (): string => randomBytes(18).toString('base64url');

/** The token of a file; where there is no such file, a new one that is written there for its owner alone, or a refusal. */
export async function tokenOf(path: string, whereNone: 'make' | 'refuse' = 'make'): Promise<string> {
  const found = await readFile(path, 'utf8').catch((error: unknown) =>
    codeOf(error) === 'ENOENT' ? undefined : refuse(path, ...unreadable(codeOf(error))),
  );
  if (found === undefined && whereNone === 'refuse')
    refuse(path, 'is not there', "name the file that the machines' pages have as page.token-file");
  if (found === undefined) {
    const token = makeToken();
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' }).catch((error: unknown) =>
      refuse(
        path,
        `no token can be written there (${codeOf(error)})`,
        'name a file in a folder that is there and may be written',
      ),
    );
    return token;
  }
  const token = found.trim();
  if (token.length < LEAST_TOKEN || /\s/.test(token))
    refuse(path, 'holds no token', `write one word of ${LEAST_TOKEN} letters or more, or remove the file`);
  return token;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const unreadable = (code: string): readonly [what: string, fix: string] =>
  code === 'EISDIR'
    ? ['is a folder', 'name a file inside it: it is made where there is none']
    : code === 'EACCES' || code === 'EPERM'
      ? ['may not be read', 'change its permissions, or name another file']
      : [`cannot be read (${code})`, 'name another file'];

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export interface Guard {
  /** Whether the request names us as we are named. A page elsewhere may be made to ask under another name. */
  namesUs(request: IncomingMessage): boolean;
  /** Whether a page of ours sent it; programs send no origin. */
  isOurOrigin(request: IncomingMessage): boolean;
  hasToken(request: IncomingMessage): boolean;
  /** Whether reading needs no token: asked from this machine, by no proxy, under a name of this machine alone. */
  mayRead(request: IncomingMessage): boolean;
}

interface GuardSettings {
  readonly host: string;
  /** Known once it listens. */
  readonly port: () => number;
  readonly token: string;
  /** Further names by which the page is reached, behind a proxy. */
  readonly names: readonly string[];
}

export function openGuard({ host, port, token, names }: GuardSettings): Guard {
  const wanted = digest(token);
  const isToken = (text: string): boolean => timingSafeEqual(digest(text), wanted);
  const machine = isAnywhere(host)
    ? [
        hostname().toLowerCase(),
        ...Object.values(networkInterfaces()).flatMap((all) =>
          (all ?? []).map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
        ),
      ]
    : [host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase()];
  const others = names.map((name) => name.toLowerCase());
  const ours = (): string[] => [
    ...[...LOOPBACK, ...machine].flatMap((name) =>
      port() === 80 ? [name, `${name}:80`] : `${name}:${port()}`,
    ),
    // A proxy's port is its own.
    ...others,
  ];
  const known = (text: string): boolean =>
    ours().includes(text) || others.includes(text.replace(/:\d+$/, ''));
  const hostOf = (request: IncomingMessage): string => (request.headers.host ?? '').toLowerCase();
  const hasToken = (request: IncomingMessage): boolean => {
    const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
    if (authorization !== undefined) return isToken(authorization.replace(/^Bearer /i, ''));
    const told = protocols
      ?.split(',')
      .map((one) => one.trim())
      .find((one) => one.startsWith('token.'));
    return told !== undefined && isToken(told.slice('token.'.length));
  };
  return {
    namesUs: (request) => known(hostOf(request)),
    isOurOrigin: ({ headers: { origin } }) => {
      if (origin === undefined) return true;
      return URL.canParse(origin) && known(new URL(origin).host.toLowerCase());
    },
    hasToken,
    mayRead: (request) => {
      const { remoteAddress = '' } = request.socket;
      const isNear = /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
      const isLocalName = LOOPBACK.includes(hostOf(request).replace(/:\d+$/, ''));
      return (isNear && isLocalName && !isForwarded(request)) || hasToken(request);
    },
  };
}
