/** Whether this machine could receive a telescope, and what would have to change. */
import { formatBytes } from '../../core/units.js';
import type { NetworkFacts } from './facts.js';
import { bufferFix, mtuRefusal, needsOf, type NetworkNeeds } from './needs.js';
import type { TelescopeRate } from './telescopes.js';

export interface NetworkCheck extends NetworkNeeds {
  readonly name: string;
  readonly part: string;
  /** Each problem with the line that fixes it; empty if there are none. */
  readonly against: readonly { readonly what: string; readonly fix: string }[];
}

export function checkNetwork(facts: NetworkFacts, rate: TelescopeRate): NetworkCheck {
  const needs = needsOf(rate.datagramBytes, rate.packetsPerS);
  const most = facts.receiveBufferMostBytes;
  const against: { what: string; fix: string }[] = [];
  if (most !== undefined && !facts.mayForce && most < needs.askedBufferBytes) {
    against.push({
      what: `net.core.rmem_max is ${formatBytes(most)}, ${formatBytes(needs.askedBufferBytes)} should be had`,
      fix: bufferFix(needs.askedBufferBytes),
    });
  }
  const wired = facts.interfaces.filter(({ addresses }) => !addresses.includes('127.0.0.1'));
  const faults = wired.map((one) => mtuRefusal(rate.datagramBytes, one));
  const [fault] = faults;
  if (wired.length > 0 && faults.every((one) => one !== undefined) && fault) {
    against.push({ what: fault.what, fix: fault.fix ?? '' });
  }
  const speeds = wired.flatMap(({ speedBitsPerS }) => (speedBitsPerS === undefined ? [] : [speedBitsPerS]));
  const fastest = Math.max(0, ...speeds);
  if (fastest > 0 && fastest < needs.bitsPerS) {
    against.push({
      what: `${(needs.bitsPerS / 1e9).toFixed(1)} Gb/s by a link of ${(fastest / 1e9).toFixed(1)}`,
      fix: 'a faster card, or a smaller part of the band',
    });
  }
  return { name: rate.name, part: rate.part, ...needs, against };
}
