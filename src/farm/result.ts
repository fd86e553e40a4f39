/**
 * The format of a worker's result: a JSON head, then numbers. [u32 length of the head][head, padded to 8 bytes][body],
 * all little-endian. The body does not depend on the worker; the head names the worker and has a sha256 of job, plan,
 * parts and body.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { refuse } from '../core/errors.js';
import { canonicalJson } from '../observation/index.js';
import { firstIssueWords } from './words.js';

const whole = z.number().int().nonnegative();
const instantSchema = z.strictObject({ unixSeconds: z.int(), fraction: z.number() });
const gapSchema = z.strictObject({
  firstInput: whole,
  endInput: whole,
  firstChannel: whole,
  endChannel: whole,
  firstSample: whole,
  endSample: whole,
});
/** Product number of sums, which serve all products from integrations. */
export const SUMS = -1;

const partSchema = z.strictObject({
  /** The product of the observation that it belongs to. */
  product: z.number().int().min(SUMS),
  /** Spectra by their number in the recording. */
  first: whole,
  end: whole,
  offsetBytes: whole,
  sizeBytes: whole,
  gaps: z.array(gapSchema).exactOptional(),
  /** For an image: its start, its length, and the instant of its geometry. */
  image: z
    .strictObject({ start: instantSchema, durationS: z.number(), moment: instantSchema })
    .exactOptional(),
});
/** In the body: one integration's sums and counts, or a range of spectra. */
export type Part = z.infer<typeof partSchema>;

const headSchema = z.strictObject({
  protocol: z.number(),
  version: z.string(),
  plan: z.string(),
  job: z.string(),
  /** One per attempt at a job: results of the same attempt are the same result, however often they arrive. */
  attempt: z.string(),
  worker: z.string(),
  backend: z.string(),
  /** Description of the backend: machines with equal descriptions compute alike to the last bit. */
  machine: z.string(),
  /** Duration of the whole job, and its share that was neither reading nor computing (opening, preparing). */
  seconds: z.number(),
  overheadS: z.number(),
  bytesRead: z.number(),
  account: z.strictObject({ missingSamples: whole, saturated: whole }),
  parts: z.array(partSchema),
  sha256: z.string(),
});
export type ResultHead = z.infer<typeof headSchema>;

export interface Result {
  readonly head: ResultHead;
  readonly body: Uint8Array;
}

/** Over job and plan, the parts, and the numbers. */
export const checksumOf = (
  { protocol, version, plan, job, account, parts }: Omit<ResultHead, 'sha256' | 'seconds' | 'overheadS'>,
  body: Uint8Array,
): string =>
  createHash('sha256')
    .update(canonicalJson({ protocol, version, plan, job, account, parts }))
    .update(body)
    .digest('hex');

export function encodeResult({ head, body }: Result): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const bodyAt = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new Uint8Array(bodyAt + body.length);
  bytes.fill(0x20, 4, bodyAt);
  new DataView(bytes.buffer).setUint32(0, bodyAt - 4, true);
  bytes.set(text, 4);
  bytes.set(body, bodyAt);
  return bytes;
}

/** Refuses truncated or damaged results; the body is a view into the given bytes. */
export function decodeResult(bytes: Uint8Array, where: string): Result {
  const damaged = (what: string): never => refuse(where, what, 'remove it and submit the job again');
  if (bytes.length < 8) damaged('is too short for a result');
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) damaged('ends before its head does');
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  } catch {
    damaged('has a head that is no JSON');
  }
  const checked = headSchema.safeParse(json);
  if (!checked.success) return damaged(`has a damaged head (${firstIssueWords(checked.error, json)})`);
  const head = checked.data;
  const body = bytes.subarray(4 + length);
  if (checksumOf(head, body) !== head.sha256) damaged('does not have the checksum it says');
  for (const { offsetBytes, sizeBytes } of head.parts)
    if (offsetBytes + sizeBytes > body.length) damaged('ends before its parts do');
  return { head, body };
}

/** Copies part of a body as float64: a body may be at any byte offset. */
export function floatsOf(body: Uint8Array, offsetBytes: number, count: number): Float64Array {
  const bytes = Uint8Array.prototype.slice.call(body, offsetBytes, offsetBytes + 8 * count);
  return new Float64Array(bytes.buffer, 0, count);
}

export const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Sums and images are float64; spectra of float samples are float32. */
export const numbersOf = (
  { product, image, offsetBytes, sizeBytes }: Part,
  body: Uint8Array,
): Float64Array | Float32Array =>
  product === SUMS || image
    ? floatsOf(body, offsetBytes, sizeBytes / 8)
    : new Float32Array(Uint8Array.prototype.slice.call(body, offsetBytes, offsetBytes + sizeBytes).buffer);
