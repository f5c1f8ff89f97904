/** The `count` nearest other cities of each city by an n × n weight, nearest first; ties by index. */
export function nearest(n: number, weight: Int32Array, count: number): Int32Array {
  const near = new Int32Array(n * count);
  for (let v = 0; v < n; v++) {
    const base = v * count;
    let filled = 0;
    for (let w = 0; w < n; w++) {
      if (w === v) continue;
      const own = weight[v * n + w]!;
      let slot = filled;
      while (slot > 0 && weight[v * n + near[base + slot - 1]!]! > own) slot--;
      if (slot === count) continue;
      if (filled < count) filled++;
      for (let k = filled - 1; k > slot; k--) near[base + k] = near[base + k - 1]!;
      near[base + slot] = w;
    }
  }
  return near;
}
