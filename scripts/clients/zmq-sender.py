# GNU Radio as a sender: two inputs interleaved, common noise that the second receives turned by 60 degrees, and noise of
# their own; through a throttle to a ZMQ sink. Arguments: pub or push, port, samples per second, samples of each input.
import cmath
import math
import sys
import time

from gnuradio import analog, blocks, gr, zeromq

kind, port, rate, samples = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
flow = gr.top_block()
mix = blocks.interleave(gr.sizeof_gr_complex)
common = analog.fastnoise_source_c(analog.GR_GAUSSIAN, 1.0, 1)
for k in range(2):
    turned = blocks.multiply_const_cc(cmath.exp(1j * math.radians(60 * k)))
    own = analog.fastnoise_source_c(analog.GR_GAUSSIAN, 0.5, 2 + k)
    both = blocks.add_cc()
    flow.connect(common, turned, (both, 0))
    flow.connect(own, (both, 1))
    flow.connect(both, (mix, k))
head = blocks.head(gr.sizeof_gr_complex, 2 * samples)
throttle = blocks.throttle(gr.sizeof_gr_complex, 2 * rate)
sink = {'pub': zeromq.pub_sink, 'push': zeromq.push_sink}[kind]
# No limit of messages that wait: what a PUB sink drops for a slow reader is not of this check.
flow.connect(mix, throttle, head, sink(gr.sizeof_gr_complex, 1, f'tcp://127.0.0.1:{port}', 100, False, 0))
print('bound', flush=True)
# A PUB sink drops what it sends before the reader is connected: a line on standard input starts it.
sys.stdin.readline()
flow.run()
print('sent', head.nitems_written(0) // 2, flush=True)
time.sleep(2)
