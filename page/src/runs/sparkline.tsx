/** Small line without axes that shows a trend. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length < 2) return <span class="note">–</span>;
  const [low, high] = [Math.min(0, ...known), Math.max(1, ...known)];
  const points = values.flatMap((value, at) =>
    Number.isFinite(value)
      ? [`${((96 * at) / (values.length - 1) + 2).toFixed(1)},${(24 - (20 * (value - low)) / (high - low)).toFixed(1)}`]
      : [],
  );
  return (
    <svg class="sparkline" viewBox="0 0 100 26" role="img" aria-label={label}>
      <polyline points={points.join(" ")} fill="none" stroke="var(--best)" stroke-width="1.6" />
    </svg>
  );
}
