/** Text about frames of a capture that are not complete datagrams. */
import type { LeftOutFrames } from './from-capture.js';

export function leftOutWords({ cut, fragment, other }: LeftOutFrames): string[] {
  return [
    ...(other > 0 ? [`${other} not UDP`] : []),
    ...(fragment > 0 ? [`${fragment} fragments of datagrams that IP cut`] : []),
    ...(cut > 0 ? [`${cut} that were captured in part (record with tcpdump -s 0)`] : []),
  ];
}

/** The fix if nothing else was received: by the most frequent kind. */
export function leftOutFix({ cut, fragment, other }: LeftOutFrames): string {
  if (fragment > 0 && fragment >= other)
    return 'raise the MTU on the way, so that IP cuts no datagram, and record again';
  if (cut > 0 && cut >= other) return 'record whole packets, with tcpdump -s 0';
  return 'record them with tcpdump -s 0 -w FILE udp, on an interface that has them';
}
