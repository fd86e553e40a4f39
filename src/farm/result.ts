/**
 * What a worker hands over: a head in JSON, then numbers. [u32 length of the head][head, padded to 8 bytes][body], all
 * little-endian. The body is the same whoever made it; the head says who did, and a sha256 of job, plan, parts and body.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { refuse } from '../core/errors.js';
import { canonicalJson } from '../observation/index.js';
import { firstIssueWords } from './words.js';

const whole = z.number().int().nonnegative();
const instantSchema = z.strictObject({ unixSeconds: z.int(), fraction: z.number() });
const gapSchema = z.strictObject({
  ...{ firstInput: whole, endInput: whole, firstChannel: whole, endChannel: whole },
  ...{ firstSample: whole, endSample: whole },
});
/** Number of the product of parts that are sums, for all products from integrations. */
export const SUMS = -1;

const partSchema = z.strictObject({
  /** Which product of the observation it is of. */
  product: z.number().int().min(SUMS),
  /** Spectra by their number in the recording. */
  first: whole,
  end: whole,
  offsetBytes: whole,
  sizeBytes: whole,
  gaps: z.array(gapSchema).exactOptional(),
  /** Of an image: where it begins, how long it lasts, and the moment of its geometry. */
  image: z
    .strictObject({ start: instantSchema, durationS: z.number(), moment: instantSchema })
    .exactOptional(),
});
/** One integration's sums and counts, or a stretch of spectra, in the body. */
export type Part = z.infer<typeof partSchema>;

const headSchema = z.strictObject({
  protocol: z.number(),
  version: z.string(),
  plan: z.string(),
  job: z.string(),
  /** Of each time a job was done anew; results of one attempt are one result, however often they come. */
  attempt: z.string(),
  worker: z.string(),
  backend: z.string(),
  /** The backend in words: where two agree, they compute alike to the last bit. */
  machine: z.string(),
  /** Of the whole job, and of it what was neither reading nor computing: opening, preparing. */
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

/** Of whose result it is, what it says of its parts, and the numbers. */
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

/** Refuses what is cut short or damaged; the body is a view into the bytes given. */
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

/** Float64 of a part of a body, in memory of their own: a body may lie anywhere. */
export function floatsOf(body: Uint8Array, offsetBytes: number, count: number): Float64Array {
  const bytes = Uint8Array.prototype.slice.call(body, offsetBytes, offsetBytes + 8 * count);
  return new Float64Array(bytes.buffer, 0, count);
}

export const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
