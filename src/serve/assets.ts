/** The files of the page, read once and cached, so that no request path can reach any other file. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const types: Readonly<Partial<Record<string, string>>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

/** No content from elsewhere, no embedding in frames, no referrer. */
export const SAFETY = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
}

export class Assets {
  private readonly files = new Map<string, Asset>();

  constructor(folder = fileURLToPath(new URL('../page', import.meta.url))) {
    for (const name of listed(folder)) {
      const type = types[extname(name)];
      if (type === undefined) continue;
      const plain = readFileSync(join(folder, name));
      const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
      this.files.set(`/${name}`, { type, plain, zipped: gzipSync(plain, { level: 9 }), tag });
    }
    const index = this.files.get('/index.html');
    if (index) this.files.set('/', index);
  }

  get isBuilt(): boolean {
    return this.files.has('/');
  }

  /** Compressed size. */
  get bytes(): number {
    return [...this.files].reduce((sum, [path, { zipped }]) => sum + (path === '/' ? 0 : zipped.length), 0);
  }

  /** Whether the file exists. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): boolean {
    const asset = this.files.get(path);
    if (!asset) return false;
    const headers = { ...SAFETY, etag: asset.tag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    if (request.headers['if-none-match'] === asset.tag) {
      response.writeHead(304, headers).end();
      return true;
    }
    const isZipped = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
    response
      .writeHead(200, {
        ...headers,
        'content-type': asset.type,
        ...(isZipped && { 'content-encoding': 'gzip' }),
      })
      .end(request.method === 'HEAD' ? undefined : isZipped ? asset.zipped : asset.plain);
    return true;
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
