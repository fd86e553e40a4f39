import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { inTemporaryFolder } from '../../core/testing/temporary-folder.js';
import { chips } from '../../packets/chips.js';
import { networkFacts } from './facts.js';
import { bufferRefusal, memoryRefusal, mtuRefusal, needsOf, needsOfStream } from './needs.js';
import { checkNetwork } from './report.js';

const lwasv = chips.plan({
  boards: Array.from({ length: 16 }, (_, n) => n + 1),
  channels: 132,
  firstChannel: 1000,
});
const card = {
  name: 'eth1',
  addresses: ['10.0.0.5'],
  mtu: 1500,
  speedBitsPerS: 10e9,
  dropped: 0,
  reversePathFilter: 1,
};

describe('what a stream needs of the network', () => {
  it("LWA-SV's group: 400 000 packets of 4240 bytes a second, 13.6 Gb/s", () => {
    const needs = needsOfStream(lwasv);
    assert.deepEqual(needs, {
      datagramBytes: 4240,
      packetsPerS: 400_000,
      bitsPerS: 13.568e9,
      askedBufferBytes: 424_000_000,
      neededBufferBytes: 33_920_000,
    });
    // 4 MiB of 424 MB.
    const refusal = bufferRefusal(2 ** 22, needs, undefined);
    assert.match(refusal?.what ?? '', /gave 4.19 MB of 424 MB, and 33.9 MB come in 20 ms/);
    assert.match(refusal?.fix ?? '', /sysctl -w net.core.rmem_max=424000000/);
    assert.equal(bufferRefusal(33_920_000, needs, undefined), undefined);
    assert.match(bufferRefusal(2 ** 26, needs, 2 ** 28)?.fix ?? '', /rmem_max=268435456/);
  });

  it('MTU, memory and disk', () => {
    assert.match(
      mtuRefusal(4240, card)?.what ?? '',
      /packets of 4268 bytes do not fit the MTU of eth1, 1500/,
    );
    assert.match(mtuRefusal(4240, card)?.fix ?? '', /ip link set dev eth1 mtu 9000/);
    assert.equal(mtuRefusal(1472, card), undefined);
    assert.match(mtuRefusal(1473, card)?.what ?? '', /1501/);
    assert.equal(memoryRefusal(79, 100), undefined);
    assert.ok(memoryRefusal(81, 100));
  });

  it('a telescope against a machine, each fault with its fix', () => {
    const facts = {
      interfaces: [card],
      receiveBufferMostBytes: 212_992,
      backlog: 1000,
      groupsMost: 20,
      mayForce: false,
      bufferErrors: 0,
    };
    const rate = { name: 'x', part: 'y', datagramBytes: 4240, packetsPerS: 400_000 };
    const check = checkNetwork(facts, rate);
    assert.deepEqual(
      check.against.map(({ what }) => what.split(' ')[0]),
      ['net.core.rmem_max', 'packets', '13.6'],
    );
    const fit = { ...card, mtu: 9000, speedBitsPerS: 100e9 };
    assert.deepEqual(checkNetwork({ ...facts, interfaces: [card, fit], mayForce: true }, rate).against, []);
    assert.equal(needsOf(100, 10).askedBufferBytes, 2 ** 22);
  });
});

describe('what the network is', () => {
  it('as Linux reports it', () =>
    inTemporaryFolder('network', (root) => {
      const files = {
        'sys/class/net/eth1/mtu': '9000\n',
        'sys/class/net/eth1/speed': '100000\n',
        'sys/class/net/eth1/statistics/rx_dropped': '3\n',
        'sys/class/net/eth1/statistics/rx_missed_errors': '4\n',
        'sys/class/net/down0/mtu': '1500\n',
        'proc/sys/net/ipv4/conf/eth1/rp_filter': '2\n',
        'proc/sys/net/core/rmem_max': '4194304\n',
        'proc/self/status': 'Name:\tx\nCapEff:\t0000000000001000\n',
        'proc/net/snmp':
          'Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 10 20 30 40 50\nUdpLite: 1\n',
      };
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      const address = {
        address: '10.0.0.5',
        netmask: '255.0.0.0',
        mac: '',
        internal: false,
        family: 'IPv4' as const,
        cidr: null,
      };
      const facts = networkFacts(root, { eth1: [address] });
      assert.deepEqual(facts, {
        interfaces: [
          {
            name: 'eth1',
            addresses: ['10.0.0.5'],
            mtu: 9000,
            speedBitsPerS: 100e9,
            dropped: 7,
            reversePathFilter: 2,
          },
        ],
        receiveBufferMostBytes: 4_194_304,
        backlog: undefined,
        groupsMost: undefined,
        mayForce: true,
        bufferErrors: 50,
      });
      return Promise.resolve();
    }));
});
