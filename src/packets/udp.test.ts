import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { addressBytes, addressText, endpointText } from './addresses.js';
import { changed, hex, join } from './testing/by-hand.js';
import { damaged } from './testing/damage.js';
import { buildFrame, internetChecksum, parseFrame, udpChecksum, type FrameFault } from './udp.js';

/** 10.0.0.5:4000 to 239.168.40.11:4015, three bytes; the sums were calculated by hand. */
const ip = '45 00 001f 0000 4000 04 11 5516 0a000005 efa8280b';
const udp = '0fa0 0faf 000b a8c5';
const packet = hex(`${ip} ${udp} 0a0b0c`);
const frame = join(hex('01005e28280b 02000a000005 0800'), packet);
const ends = {
  source: { address: '10.0.0.5', port: 4000 },
  destination: { address: '239.168.40.11', port: 4015 },
} as const;

describe('addresses', () => {
  it('to bytes and back', () => {
    for (const text of [
      '0.0.0.0',
      '239.168.40.11',
      '::',
      '::1',
      'fe80::1',
      'ff05::1:2',
      '1:2:3:4:5:6:7:8',
      '1::8',
      '1:0:0:2::8',
      '0:1::',
    ]) {
      assert.equal(addressText(addressBytes(text)), text);
    }
    assert.deepEqual(
      [...addressBytes('::ffff:10.0.0.5')],
      [...new Array<number>(10).fill(0), 255, 255, 10, 0, 0, 5],
    );
    assert.deepEqual([...addressBytes('64:ff9b::1.2.3.4').subarray(0, 4)], [0, 0x64, 0xff, 0x9b]);
    assert.equal(addressText(addressBytes('1:0:0:2:0:0:0:8')), '1:0:0:2::8');
    assert.equal(endpointText({ address: '::1', port: 5 }), '[::1]:5');
    assert.equal(endpointText(ends.source), '10.0.0.5:4000');
    for (const text of ['', '1.2.3', '1.2.3.256', ':::', 'host'])
      assert.throws(() => addressBytes(text), /is none/);
  });
});

describe('checksums', () => {
  it('of an example everyone knows: a header whose sum is b861', () => {
    const header = hex('4500 0073 0000 4000 4011 0000 c0a8 0001 c0a8 00c7');
    assert.equal(internetChecksum(header), 0xb861);
    assert.equal(internetChecksum(changed(header, 10, 'b861')), 0);
  });

  it('of RFC 1071: 0001 f203 f4f5 f6f7 add up to ddf2', () => {
    assert.equal(internetChecksum(hex('0001 f203 f4f5 f6f7')), 0xffff - 0xddf2);
    // An odd byte counts as the high one of its word.
    assert.equal(internetChecksum(hex('01')), 0xfeff);
  });

  it('over a pseudo-header, by hand', () => {
    // Addresses 0a00 + 0005 + efa8 + 280b, protocol 0011, length 000b; ports 0fa0 + 0faf, length 000b; data 0a0b + 0c00:
    // 1 5739, carried 573a, complement a8c5.
    const [from, to] = [addressBytes('10.0.0.5'), addressBytes('239.168.40.11')];
    assert.equal(udpChecksum(from, to, hex('0fa0 0faf 000b 0000 0a0b0c')), 0xa8c5);
  });
});

describe('frames', () => {
  const parsed = (bytes: Uint8Array, link = 1) => {
    const datagram = parseFrame(bytes, link);
    if ('refused' in datagram) assert.fail(datagram.why);
    return datagram;
  };
  const fault = (bytes: Uint8Array, link = 1): FrameFault | undefined => {
    const datagram = parseFrame(bytes, link);
    return 'refused' in datagram ? datagram.refused : undefined;
  };

  it('are built byte for byte, checksums and the group on the wire included', () => {
    assert.deepEqual(buildFrame(ends, hex('0a0b0c')), frame);
  });

  it('are read', () => {
    assert.deepEqual(parsed(frame), { ...ends, payload: hex('0a0b0c') });
    // Padding of short Ethernet frames is not payload.
    assert.deepEqual(parsed(join(frame, new Uint8Array(20))).payload, hex('0a0b0c'));
  });

  it('of every link', () => {
    const cooked = join(hex('0000 0001 0006 020000000000 0000 0800'), packet);
    const cooked2 = join(hex('0800 0000 00000001 0001 00 06 0200000000000000'), packet);
    const tagged = join(frame.subarray(0, 12), hex('88a8 0001 8100 0002'), frame.subarray(12));
    for (const [link, bytes] of [
      [101, packet],
      [12, packet],
      [113, cooked],
      [276, cooked2],
      [1, tagged],
      [0, join(hex('02000000'), packet)],
      [108, join(hex('00000002'), packet)],
    ] as const) {
      assert.deepEqual(parsed(bytes, link).destination, ends.destination, `link ${link}`);
    }
    assert.equal(fault(frame, 127), 'other');
  });

  it('of IPv6, with extension headers', () => {
    const six = {
      source: { address: 'fd00::5', port: 4000 },
      destination: { address: 'ff05::1:2', port: 4015 },
    };
    const built = buildFrame(six, hex('0a0b0c'));
    assert.deepEqual(parsed(built), { ...six, payload: hex('0a0b0c') });
    assert.deepEqual(built.subarray(0, 6), hex('333300010002'));
    assert.equal(udpChecksum(addressBytes('fd00::5'), addressBytes('ff05::1:2'), built.subarray(54)), 0);
    // A hop-by-hop header of 8 bytes before UDP.
    const hops = join(built.subarray(0, 54), hex('11 00 000000000000'), built.subarray(54));
    assert.deepEqual(parsed(changed(changed(hops, 20, '00'), 18, '0013')).payload, hex('0a0b0c'));
    assert.equal(fault(changed(built, 20, '2c')), 'fragment');
    assert.equal(fault(changed(built, 20, '06')), 'other');
    assert.equal(fault(built.subarray(0, built.length - 1)), 'cut');
  });

  it('are refused with the reason', () => {
    assert.equal(fault(changed(frame, 12, '0806')), 'other'); // ARP
    assert.equal(fault(changed(frame, 23, '06')), 'other'); // TCP
    assert.equal(fault(changed(frame, 20, '2000')), 'fragment'); // more fragments follow
    assert.equal(fault(changed(frame, 20, '0001')), 'fragment'); // offset of 8 bytes
    assert.equal(fault(frame.subarray(0, frame.length - 1)), 'cut');
    assert.equal(fault(frame.subarray(0, 20)), 'cut');
    assert.equal(fault(frame.subarray(0, 13)), 'cut');
    assert.equal(fault(changed(frame, 14, '55')), 'other');
    assert.equal(fault(changed(frame, 38, '000c')), 'other'); // UDP longer than IP
    assert.equal(fault(changed(frame, 38, '0007')), 'other');
    assert.throws(
      () => buildFrame({ ...ends, source: { address: '::1', port: 1 } }, hex('00')),
      /of two kinds/,
    );
    assert.throws(() => buildFrame(ends, new Uint8Array(65_508)), /bytes of IP and UDP is 65536/);
    assert.equal(buildFrame(ends, new Uint8Array(65_507)).length, 14 + 65_535);
  });

  it('a thousand damaged ones, none of which throws', () => {
    const random = randomStream(9, 'frames');
    for (let k = 0; k < 1000; k++) {
      for (const link of [0, 1, 101, 113, 276]) parseFrame(damaged(frame, random), link);
    }
  });
});
