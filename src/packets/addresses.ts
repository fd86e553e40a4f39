/** Internet addresses as text and as bytes. */
import { isIPv4, isIPv6 } from 'node:net';
import { refuse } from '../core/errors.js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Four or sixteen bytes. */
export function addressBytes(text: string): Uint8Array {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  if (!isIPv6(text) || text.includes('%'))
    refuse('address', `'${text}' is none`, 'write it like 239.1.2.3 or ff05::1');
  // The last 32 bits may be written as IPv4.
  const dotted = /[\d.]+$/.exec(text)?.[0] ?? '';
  const tail = dotted.includes('.') ? addressBytes(dotted) : new Uint8Array();
  const words = tail.length > 0 ? text.slice(0, -dotted.length).replace(/(?<!:):$/, '') : text;
  const bytes = new Uint8Array(16);
  const halves = words.split('::').map(wordBytes);
  const after = halves.at(1) ?? [];
  bytes.set(halves[0]);
  bytes.set(after, 16 - tail.length - after.length);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

const wordBytes = (text: string): number[] =>
  text
    .split(':')
    .filter((word) => word !== '')
    .flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);

export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`;
  const words = Array.from({ length: 8 }, (_, k) =>
    ((bytes[2 * k] << 8) | bytes[2 * k + 1]).toString(16),
  ).join(':');
  // The longest run of zeros is omitted; the first of several (RFC 5952).
  const runs = [...words.matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].map(([run]) => run);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest === '') return words;
  const at = words.search(new RegExp(`(?:^|(?<=:))${longest}(?=:|$)`));
  return `${words.slice(0, at).replace(/:$/, '')}::${words.slice(at + longest.length).replace(/^:/, '')}`;
}

export const endpointText = ({ address, port }: Endpoint): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
