/** Computes layouts off the main thread. */

import { type LayoutInput, layout } from "./layout";

self.onmessage = (message: MessageEvent<{ id: number; input: LayoutInput }>) => {
  const output = layout(message.data.input);
  const buffers = [output.x.buffer, output.y.buffer, output.width.buffer, output.height.buffer];
  (self as unknown as Worker).postMessage({ id: message.data.id, output }, buffers);
};
