/**
 * Errors that `corella live`, `send`, `view` and `worker` can detect are refused before waiting, and no option is
 * ignored.
 */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { corellaHere } from './corella.js';

const folder = temporaryFolder('live-refusals');
const here = (...words: readonly string[]): ReturnType<typeof corellaHere> => corellaHere(folder, ...words);
const words = (line: string): string[] => line.split(' ');

const CAPTURE = '--from c.pcap --telescope lwasv --stations 2 --rate 12500';
/** Without any sender: an error that is not refused beforehand would wait. */
const LISTEN = '--listen 4399 --telescope lwasv --stations 2 --rate 12500 --for 200ms';

before(async () => {
  await here(...words('simulate --stations 2 --rate 50kHz --duration 100ms --perfect -o sky --quiet'));
  const sent = await here(...words('send sky.sigmf-meta --format snap2 --channels 4 --to c.pcap --quiet'));
  assert.equal(sent.code, 0, sent.stderr);
  await mkdir(join(folder, 'place'));
  const capture = await readFile(join(folder, 'c.pcap'));
  await writeFile(join(folder, 'cut.pcap'), capture.subarray(0, capture.length - 7));
  await writeFile(join(folder, 'header.pcap'), capture.subarray(0, 24));
  await writeFile(join(folder, 'some.pcap'), fragmented(capture, 10));
  await writeFile(join(folder, 'all.pcap'), fragmented(capture, 1));
  const wireless = Buffer.from(capture);
  wireless.writeUInt32LE(105, 20);
  await writeFile(join(folder, 'wireless.pcap'), wireless);
});

/** Marks every n-th frame of an Ethernet capture as a fragment of an IP datagram. */
function fragmented(capture: Buffer, every: number): Buffer {
  const copy = Buffer.from(capture);
  for (let at = 24, n = 0; at < copy.length; at += 16 + copy.readUInt32LE(at + 8), n++)
    if (n % every === 0) copy[at + 16 + 14 + 6] |= 0x20;
  return copy;
}

async function refused(line: string, why: RegExp): Promise<void> {
  const { code, stderr } = await here(...words(line));
  assert.equal(code, 1, `${line}: ${stderr}`);
  assert.match(stderr, why, line);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
}

describe('live refuses before the first packet', () => {
  const cases: readonly (readonly [options: string, why: RegExp])[] = [
    ['-o o.fits', /cannot write '\.fits'/],
    ['-o o.uvfits --values sums', /sums as \.uvh5/],
    ['-o o.ms', /appears when it is finished; write \.uvfits or \.uvh5/],
    ['-o nowhere/o.uvh5', /folder .*nowhere does not exist/],
    ['-o o.uvh5 --integration 1s --file-every 500ms', /--file-every: .*shorter than an integration/],
    ['-o o.uvh5 --epoch yesterday', /--epoch: 'yesterday'/],
    ['-o o.uvh5 --flag 99', /--flag: 99 is outside inputs 0 to 3/],
    ['-o o.uvh5 --format nix', /--format: "nix" is not allowed; give .*snap2/],
    ['-o o.uvh5 --page nosuchhost.invalid:1', /--page nosuchhost\.invalid:1: cannot be listened on/],
    ['-o o.uvh5 --token-file place', /^corella: place: is a folder/],
    ['-o o.uvh5 --server nats://127.0.0.1:1', /no NATS server answers there/],
    ['--image 1s --picture nowhere/p.png', /nowhere\/p\.png: cannot be written/],
    ['--image 1s --integration 1500ms', /no whole number of images/],
    ['--image 300ms --integration 1s', /like 0\.9s/],
    ['--image 1s --gains nothing.json', /nothing\.json: there is no such file/],
    ['--image 1s --sources unknown', /'unknown' is unknown/],
    ['--image 1s --field 400', /--field: .*400/],
  ];
  for (const [options, why] of cases) it(options, () => refused(`live ${LISTEN} ${options}`, why));
  it('telescopes, ports, groups and interfaces that are none', async () => {
    await refused('live --listen 4399 -o o.uvh5', /--telescope: is missing/);
    await refused('live --listen 4399 --telescope lwasvv -o o.uvh5', /'lwasvv' is not known/);
    await refused('live --listen 4399 --telescope lwasv --stations 999 -o o.uvh5', /stations is 999/);
    for (const [where, why] of [
      ['0', /--listen: 0 is no port/],
      ['70000', /--listen: 70000 is no port/],
      ['300.1.2.3:4399', /no IPv4 address/],
      ['239.1.2.3:4399 --interface eth77', /no interface 'eth77'.*there are/],
      ['4399 --interface lo', /--interface: .*4399 is none/],
    ] as const)
      await refused(`live --listen ${where} --telescope lwasv -o o.uvh5`, why);
  });
  it('a page whose port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await refused(`live ${LISTEN} -o o.uvh5 --page ${port}`, /is in use by another program/);
    await new Promise((resolve) => other.close(resolve));
  });
});

describe('live ignores no option', () => {
  const cases: readonly (readonly [options: string, why: RegExp])[] = [
    ['-o o.uvh5 --interface lo', /--interface: .*with --listen/],
    ['-o o.uvh5 --sample-type cu8', /--sample-type: .*packets state it themselves/],
    ['-o o.uvh5 --inputs 3', /--inputs: /],
    ['-o o.uvh5 --start 2026-01-01T00:00:00Z', /--start: /],
    ['-o o.uvh5 --polarisations 7', /--polarisations: 7 is not allowed/],
    ['-o o.uvh5 --channels 8', /--channels: .*channelised already/],
    ['-o o.uvh5 --taps 4', /--taps: .*channelised already/],
    ['-o o.uvh5 --frequency 1GHz', /--frequency: is 1 GHz, where the snap2 packets say/],
    ['-o o.uvh5 --gains g.json', /--gains: .*without --image/],
    ['-o o.uvh5 --picture p.png', /--picture: .*without --image/],
    ['-o o.uvh5 --weights uniform', /--weights: .*without --image/],
    ['--image 1s --direct --weights uniform', /--weights: direct images/],
    ['--image 1s --file-every 10min', /--file-every: .*without -o/],
    ['-o o.uvh5 --token-file t', /--token-file: .*--page/],
    ['-o o.uvh5 --no-page --page-name x', /--page-name: is for the page, .* leaves it out/],
    ['-o o.uvh5 --machine low', /--machine: .*--server/],
    ['-o o.uvh5 --rate 0', /--rate: 0 is out of range/],
  ];
  for (const [options, why] of cases) it(options, () => refused(`live ${CAPTURE} ${options}`, why));
  it('with --json in one line, as everything that live prints', async () => {
    const { code, stdout } = await here(...words(`live ${CAPTURE} --image 1s --integration 1500ms --json`));
    assert.equal(code, 1);
    const lines = stdout.trim().split('\n');
    assert.equal(lines.length, 1, stdout);
    const { event, jsonVersion, error } = JSON.parse(lines[0]) as Record<string, unknown>;
    assert.deepEqual([event, jsonVersion], ['error', 1]);
    assert.equal((error as { where: string }).where, '--integration');
  });
  it('of a recording, and of what is no capture', async () => {
    await refused('live sky.sigmf-meta --inputs 3 -o o.uvh5', /--inputs: is for streams/);
    await refused('live sky.sigmf-meta --epoch clock -o o.uvh5', /--epoch: is for packets/);
    await refused('live c.pcap -o o.uvh5', /is a capture of packets; name it with --from c\.pcap/);
    await refused('live sky.sigmf-meta --listen 4399 -o o.uvh5', /several sources of samples are given/);
    await refused(
      'live sky.sigmf-meta --telescope eda2 --channels 4 -o o.uvh5',
      /where eda2 has 256 stations/,
    );
    await refused('live --from header.pcap --telescope lwasv -o o.uvh5', /holds no UDP packets/);
    await refused('live --from place --telescope lwasv -o o.uvh5', /place: is a folder/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('o')),
      [],
    );
  });
});

describe('view', () => {
  it('refuses options of captures where none is shown', async () => {
    await refused('view sky.sigmf-meta --telescope lwasv', /--telescope: is for captures, and none is shown/);
    await refused('view sky.sigmf-meta --image 1s', /--image: is for captures/);
    await refused('view sky.sigmf-meta --taps 4', /--taps: is for captures/);
    await refused('view c.pcap --telescope lwasv --epoch x', /--epoch: 'x' is not a UTC time/);
  });
});

it('the sources of a sky model are marked, as --help states', async () => {
  await writeFile(
    join(folder, 'model.txt'),
    'Format = Name, Type, Ra, Dec, I\ns0,POINT,20:00:00,+40.0.0,10\n',
  );
  const { code, stdout, stderr } = await here(
    ...words(`live ${CAPTURE} --image 100ms --integration 100ms --sources model.txt --quiet`),
  );
  assert.equal(code, 0, stderr);
  assert.match(stdout, /1 drawn/);
});

it('a capture that is cut short gives what it holds, with a warning', async () => {
  const { code, stdout } = await here(
    ...words(`live ${CAPTURE.replace('c.pcap', 'cut.pcap')} -o cut.uvh5 --quiet`),
  );
  assert.equal(code, 0);
  assert.match(stdout, /the capture ends early, at byte \d+: the capture ends inside a record/);
});

it('frames of a capture that are no whole datagram are counted, and explained where there is nothing else', async () => {
  const of = (name: string): string => `live ${CAPTURE.replace('c.pcap', name)} -o frames.uvh5 --overwrite`;
  const { code, stdout } = await here(...words(`${of('some.pcap')} --quiet`));
  assert.equal(code, 0);
  assert.match(stdout, /left out of the capture: 12\d fragments of datagrams that IP cut/);
  await refused(of('all.pcap'), /holds no whole UDP packet: \d+ fragments .*raise the MTU/);
  await refused(of('wireless.pcap'), /holds no whole UDP packet: \d+ not UDP \(link type 105 is not read\)/);
});

it('worker refuses what it would ignore, and what it could not write', async () => {
  await refused('worker --job j --root . --until-idle 5s', /--until-idle: is for --server/);
  await refused('worker --server nats://127.0.0.1:1 --root . -o x', /--out: is for --job/);
  await refused(
    'worker --job j --root . -o nowhere/x',
    /nowhere\/x: cannot be written: the folder .* does not exist/,
  );
});

describe('an observation without data', () => {
  it('of streams: ends after --for; one that is named twice is refused', async () => {
    const stream =
      '--sample-type cu8 --rate 100kHz --frequency 58MHz --telescope lwasv --stations 2 --for 100ms';
    await refused(`live - - ${stream} -o o.uvh5`, /one stream is named twice/);
    await refused(
      'live - --meta sky.sigmf-meta --rate 3kHz -o o.uvh5',
      /--rate: is 3000, where sky\.sigmf-meta says 50000/,
    );
    await refused('live sky.sigmf-meta --channels 4 --token-file t -o o.uvh5', /--token-file: .*with --page/);
    const { code, stderr } = await here(...words(`live tcp://127.0.0.1:1 ${stream} -o o.uvh5 --quiet`));
    assert.equal(code, 1);
    assert.match(stderr, /tcp:\/\/127\.0\.0\.1:1: no samples in 100 ms/);
  });
  it('ends after --for with a reason and exit code 1', async () => {
    const { code, stderr } = await here(...words(`live ${LISTEN} -o o.uvh5`));
    assert.equal(code, 1);
    assert.match(stderr, /no packets in 200 ms; nothing was written; .*tcpdump/);
  });
});

describe('send', () => {
  const SEND = 'send sky.sigmf-meta --format snap2';
  const cases: readonly (readonly [options: string, why: RegExp])[] = [
    ['--channels 4 --to x.pcap --noise 5', /--noise: is for --simulate/],
    ['--channels 4 --to x.pcap --telescope eda2', /--telescope: is for --simulate/],
    ['--channels 4 --to x.pcap --speed 2', /--speed: is for a socket/],
    ['--channels 4 --to x.pcap --interface lo', /--interface: is for a socket/],
    ['--channels 4 --to x.pcap --loop', /--loop: into a capture would never end/],
    ['--channels 4 --to x.pcapng', /end the name in \.pcap/],
    ['--channels 4 --to 127.0.0.1:0', /--to: 0 is no port/],
    ['--channels 4 --to 127.0.0.1:99999', /--to: 99999 is no port/],
    ['--channels 4 --to 127.0.0.1', /--to: '127\.0\.0\.1' is no port or address/],
    ['--channels 4 --to localhost:4399 --interface lo', /--interface: .*localhost:4399 is none/],
    ['--channels 4 --to 127.0.0.1:4399 --sockets 2 --lose 1%', /--sockets: .*one by one/],
    ['--channels 4 --to x.pcap --lose-source 7@0s-1s', /no sender 7; there is one, 0/],
    ['--channels 4 --to x.pcap --lose-source 0@2s-1s', /--lose-source: 2 s to 1 s is no while/],
  ];
  for (const [options, why] of cases) it(options, () => refused(`${SEND} ${options}`, why));
  it('leaves the recording that it reads alone, with --overwrite too', async () => {
    await refused(
      `${SEND} --channels 4 --to x.pcap --truth sky --overwrite`,
      /is the very file that is read/,
    );
    const { code } = await here(...words('inspect sky.sigmf-meta'));
    assert.equal(code, 0);
  });
  it('refuses channels for packets of voltages, and a sky of one time with the stamps of another', async () => {
    await refused(
      'send sky.sigmf-meta --format vdif --taps 4 --to x.pcap',
      /--taps: .*vdif packets hold voltages/,
    );
    const sky = 'send --simulate --stations 2 --rate 50kHz --channels 4 --format snap2 --to x.pcap';
    await refused(`${sky} --restamp --time 2020-01-01T00:00:00Z`, /--restamp: /);
  });
  it('reports which faults did not happen', async () => {
    const { code, stdout } = await here(
      ...words(`${SEND} --channels 4 --to faults.pcap --restart 50s --quiet`),
    );
    assert.equal(code, 0);
    assert.match(stdout, /--restart did not happen: the data ended before 50 s/);
  });
});
