/** The HTTP server: checks the requester, then the request; every answer is JSON, a picture, or the page. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CorellaError } from '../core/errors.js';
import { Allowance } from './clients/allowance.js';
import { Assets, SAFETY } from './assets.js';
import { isCommand, type Commands } from './commands.js';
import { isForwarded, type Guard } from './guard.js';
import type { Hub } from './clients/hub.js';
import type { Metrics } from './metrics.js';
import type { Refused } from './messages.js';

const MOST_BODY_BYTES = 1024 * 1024;
/** Requests without a token, of all clients: five hundred pages may open at once, with four files each. */
const REQUESTS = { atOnce: 2000, perSecond: 100 } as const;
const API = '/api/v1/';

/** An answer that is not JSON. */
interface Blob {
  readonly type: string;
  readonly bytes: Uint8Array;
}
export type Answer = { readonly json: unknown } | Blob | undefined;
/** undefined: no data (yet). */
export type Get = (query: URLSearchParams) => Answer | Promise<Answer>;

interface HttpSettings {
  readonly guard: Guard;
  readonly hub: Hub;
  readonly metrics: Metrics;
  readonly gets: Readonly<Record<string, Get | undefined>>;
  readonly commands?: Pick<Commands, 'run' | 'acknowledge'>;
  readonly assets?: Assets;
}

class HttpError extends Error {
  constructor(
    readonly code: number,
    readonly refused: Refused,
  ) {
    super(refused.what);
  }
}

const fail = (code: number, where: string, what: string, fix?: string): never => {
  throw new HttpError(code, { where, what, fix });
};

export function createHttp(settings: HttpSettings): Server {
  const { guard, hub, metrics } = settings;
  const assets = settings.assets ?? new Assets();
  const requests = new Allowance(REQUESTS);
  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, (request, response) => {
    const begun = performance.now();
    const path = pathOf(request);
    answer(path, request, response, { ...settings, assets, requests }).then(
      () => {
        metrics.observeRequest(routeOf(path), (performance.now() - begun) / 1000);
      },
      (error: unknown) => {
        refuseWith(response, error);
      },
    );
  });
  server.on('upgrade', (request, socket, head: Buffer) => {
    // Foreign requests get no socket and no answer.
    const isOurs = guard.namesUs(request) && guard.isOurOrigin(request);
    if (!isOurs || pathOf(request) !== '/live') {
      socket.end(`HTTP/1.1 ${isOurs ? '404 Not Found' : '403 Forbidden'}\r\nconnection: close\r\n\r\n`);
      return;
    }
    if (!guard.mayRead(request)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
      return;
    }
    socket.on('error', () => undefined);
    hub.accept(request, socket, head);
  });
  server.on('clientError', (_, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
  });
  return server;
}

const pathOf = ({ url }: IncomingMessage): string => {
  const target = url ?? '/';
  return URL.canParse(target, 'http://page') ? new URL(target, 'http://page').pathname : '//';
};

/** For the metrics: a bounded set of names. */
const routeOf = (path: string): string =>
  path.startsWith(API)
    ? path.slice(API.length).split('/')[0].slice(0, 20)
    : path === '/metrics'
      ? 'metrics'
      : 'page';

async function answer(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  settings: HttpSettings & { readonly assets: Assets; readonly requests: Allowance },
): Promise<void> {
  const { guard, metrics, assets } = settings;
  if (!settings.requests.take() && !guard.hasToken(request))
    fail(503, 'page', `answers ${REQUESTS.perSecond} requests a second`, 'ask again in a few seconds');
  if (!guard.namesUs(request))
    fail(
      421,
      'host',
      `'${(request.headers.host ?? '').slice(0, 100)}' is not this page's name`,
      'use the address that corella printed, or give page.names: NAME',
    );
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  if (path === '/metrics' || path.startsWith(API)) {
    if (isReading ? !guard.mayRead(request) : !guard.hasToken(request))
      fail(
        401,
        path,
        'no token, or another one',
        'send Authorization: Bearer and the token that corella printed',
      );
    if (path === '/metrics') {
      if (!isReading) fail(405, path, `${request.method ?? ''} is not for this`, 'GET it');
      send(response, 200, metrics.contentType, await metrics.text());
      return;
    }
    const name = path.slice(API.length);
    if (isReading) await read(name, request, response, settings);
    else await change(name, request, response, settings);
    return;
  }
  if (!isReading) fail(405, path, `${request.method ?? ''} is not for this`, 'GET it');
  if (assets.serve(path, request, response)) return;
  fail(
    404,
    path.slice(0, 100),
    'nothing is here',
    assets.isBuilt ? 'the page is at /' : 'the page is not built: npm run build',
  );
}

async function read(
  name: string,
  { url }: IncomingMessage,
  response: ServerResponse,
  { gets }: HttpSettings,
): Promise<void> {
  const get = Object.hasOwn(gets, name) ? gets[name] : undefined;
  if (!get)
    return fail(
      404,
      name.slice(0, 100),
      'no such thing to read',
      `there are ${Object.keys(gets).join(', ')}`,
    );
  const found = await get(new URL(url ?? '/', 'http://page').searchParams);
  if (!found) return fail(404, name, 'there is nothing yet', 'ask again when data have come');
  if ('json' in found) send(response, 200, 'application/json', JSON.stringify(found.json));
  else send(response, 200, found.type, found.bytes);
}

async function change(
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
  { commands, guard }: HttpSettings,
): Promise<void> {
  if (request.method !== 'POST') fail(405, name, `${request.method ?? ''} is not for this`, 'GET or POST');
  if (!guard.isOurOrigin(request)) fail(403, 'origin', 'a page elsewhere may not steer');
  if (!commands) return fail(404, name.slice(0, 100), 'nothing can be changed here');
  const address = request.socket.remoteAddress ?? 'unknown';
  // Behind a proxy the address is the proxy's, and the client address it gives is not verified.
  const who = isForwarded(request) ? `somebody, by the proxy ${address}` : address;
  const alarm = /^alarms\/([^/]+)\/acknowledge$/.exec(name);
  if (!alarm && !isCommand(name)) fail(404, name.slice(0, 100), 'no such command');
  const body = await bodyOf(request);
  const done =
    alarm || !isCommand(name)
      ? commands.acknowledge(decoded(alarm?.[1] ?? ''), who)
      : await commands.run(name, body, who);
  send(response, 200, 'application/json', JSON.stringify(done));
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail(400, 'path', 'is not written as it should be');
  }
};

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += (part as Buffer).length;
    if (bytes > MOST_BODY_BYTES) fail(413, 'body', `is larger than ${MOST_BODY_BYTES} bytes`);
    parts.push(part as Buffer);
  }
  if (bytes === 0) return {};
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return fail(400, 'body', 'is no JSON', 'send JSON, like {"inputs": ["stand17"], "flag": true}');
  }
}

function send(response: ServerResponse, code: number, type: string, body: string | Uint8Array): void {
  response.writeHead(code, { ...SAFETY, 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

function refuseWith(response: ServerResponse, error: unknown): void {
  const [code, refused]: [number, Refused] =
    error instanceof HttpError
      ? [error.code, error.refused]
      : error instanceof CorellaError
        ? [
            400,
            {
              where: error.where,
              what: error.what,
              fix: error.fix,
            },
          ]
        : [500, { where: 'corella', what: error instanceof Error ? error.message : 'failed' }];
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // Does not wait for the rest of a request that was too large.
  const end = code === 413 ? { connection: 'close' } : {};
  response
    .writeHead(code, { ...SAFETY, ...end, 'content-type': 'application/json' })
    .end(JSON.stringify(refused));
}
