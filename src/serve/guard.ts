/** Access control: only our own names; a token for every change, and for all requests from other machines. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';
import { refuse } from '../core/errors.js';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const ANYWHERE = ['0.0.0.0', '::', '[::]'];
const LEAST_TOKEN = 16;

/** Headers set by proxies: the requester is not the peer. */
const FORWARDING = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
] as const;

/** Whether a proxy forwarded the request. nginx sets no header by default, but uses HTTP/1.0, which no browser does. */
export const isForwarded = ({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean =>
  FORWARDING.some((name) => headers[name] !== undefined) ||
  httpVersionMajor < 1 ||
  (httpVersionMajor === 1 && httpVersionMinor === 0);

const isAnywhere = (host: string): boolean => ANYWHERE.includes(host);
export const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|\[?::1\]?$)/i.test(host);

/** A host name for a page on this listening address: this machine's address if it listens on all of them. */
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

/** Reads the token from a file. If the file is missing, writes a new token readable only by its owner, or refuses. */
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
  /** Whether the request uses one of our names. A page of another site can make browsers use another name. */
  namesUs(request: IncomingMessage): boolean;
  /** Whether one of our pages sent it; programs send no origin. */
  isOurOrigin(request: IncomingMessage): boolean;
  hasToken(request: IncomingMessage): boolean;
  /** Whether reading needs no token: requests from this machine, without proxy, under a local name. */
  mayRead(request: IncomingMessage): boolean;
}

interface GuardSettings {
  readonly host: string;
  /** Known once the server listens. */
  readonly port: () => number;
  readonly token: string;
  /** Further names of the page, for proxies. */
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
    // A proxy has its own port.
    ...others,
  ];
  const known = (text: string): boolean =>
    ours().includes(text) || others.includes(text.replace(/:\d+$/, ''));
  const hostOf = (request: IncomingMessage): string => (request.headers.host ?? '').toLowerCase();
  const hasToken = (request: IncomingMessage): boolean => {
    const { authorization, 'sec-websocket-protocol': protocols } = request.headers;
    if (authorization !== undefined) return isToken(authorization.replace(/^Bearer /i, ''));
    const sent = protocols
      ?.split(',')
      .map((one) => one.trim())
      .find((one) => one.startsWith('token.'));
    return sent !== undefined && isToken(sent.slice('token.'.length));
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
