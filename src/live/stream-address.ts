/** Addresses of sample streams. */
import { refuse } from '../core/errors.js';

interface StreamAddress {
  readonly scheme: StreamScheme;
  readonly host: string;
  readonly port: number;
}

/** The senders' default ports. */
const defaultPorts = {
  tcp: undefined,
  kraken: 5000,
  kraken2: 8091,
  rtl_tcp: 1234,
  zmq: undefined,
} as const;
type StreamScheme = keyof typeof defaultPorts;

const schemes = Object.keys(defaultPorts) as readonly StreamScheme[];
const schemeOf = (text: string): StreamScheme | undefined =>
  schemes.find((one) => text.startsWith(`${one}://`) || (one !== 'tcp' && text.startsWith(`${one}:`)));

/** A telescope's API is polled; it returns visibilities. */
export const isTartName = (text: string): boolean => /^tart:/i.test(text);

/** Standard input, or an address; a named pipe looks like a path. */
export const isStreamName = (text: string): boolean =>
  text === '-' || isTartName(text) || schemeOf(text) !== undefined;

/** Undefined if the text is not an address: standard input or a pipe. */
export function parseStreamAddress(text: string): StreamAddress | undefined {
  const scheme = schemeOf(text);
  if (scheme === undefined) return undefined;
  const defaultPort = defaultPorts[scheme];
  const parts = /^(?:\/\/)?(\[[^\]]+\]|[^:/]+)(?::(\d{1,5}))?\/?$/.exec(text.slice(scheme.length + 1));
  const port = parts?.[2] === undefined ? defaultPort : Number(parts[2]);
  if (!parts || port === undefined)
    refuse(text, 'names no host and port', `write it like ${scheme}://localhost:${defaultPort ?? 5555}`);
  if (port < 1 || port > 65_535) refuse(text, `${port} is no port`, 'give a number from 1 to 65535');
  return { scheme, host: parts[1].replace(/^\[|\]$/g, ''), port };
}
