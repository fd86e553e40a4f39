/**
 * Proofs that the sender of a message has the token of the machines' pages. The token is never sent: a proof is a keyed
 * hash (HMAC-SHA256) of the subject, the time, a random word and the message. It is good for a few seconds, once.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import { nats } from '../queue/nats.js';

const HEADER = 'Corella-Proof';
/** Clocks of one telescope's machines differ by less, and no message takes this long. */
const GOOD_MS = 10_000;

export class Proofs {
  /** Random words of proofs that are still valid, and until when. */
  private readonly used = new Map<string, number>();

  constructor(
    private readonly token: string,
    private readonly nowMs: () => number = Date.now,
  ) {}

  /** Headers for a message to a subject. */
  headersFor(subject: string, data: string): MsgHdrs {
    const [at, word] = [String(this.nowMs()), randomBytes(16).toString('hex')];
    const head = nats().headers();
    head.set(HEADER, `${at} ${word} ${this.hash(subject, at, word, data).toString('hex')}`);
    return head;
  }

  /** Why a message is refused; undefined if it is valid. A proof is valid once. */
  refusal({ subject, data, headers: head }: Pick<Msg, 'subject' | 'data' | 'headers'>): string | undefined {
    const [at = '', word = '', hash = ''] = (head?.get(HEADER) ?? '').split(' ');
    if (hash === '') return 'it was asked without the token';
    const wanted = this.hash(subject, at, word, data);
    const given = Buffer.from(hash, 'hex');
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
      return 'it was asked with another token than this machine has';
    const nowMs = this.nowMs();
    const apartMs = Math.abs(nowMs - Number(at));
    if (!(apartMs <= GOOD_MS))
      return `it was asked ${Math.round(apartMs / 1000)} s ago or ahead: see that the clocks of the machines agree`;
    for (const [one, untilMs] of this.used) if (untilMs < nowMs) this.used.delete(one);
    if (this.used.has(word)) return 'it was asked already';
    this.used.set(word, nowMs + 2 * GOOD_MS);
    return undefined;
  }

  private hash(subject: string, at: string, word: string, data: string | Uint8Array): Buffer {
    return createHmac('sha256', this.token).update(`${subject}\n${at}\n${word}\n`).update(data).digest();
  }
}
