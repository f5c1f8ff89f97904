/** Text of a golden file: JSON with a line for each task and each row, so that a difference names the task. */
export function goldenText(record: object): string {
  const lines = Object.entries(record).map(([key, value]: [string, unknown]) => {
    const text = Array.isArray(value)
      ? `[\n${value.map((each) => JSON.stringify(each)).join(",\n")}\n]`
      : JSON.stringify(value);
    return `${JSON.stringify(key)}:${text}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
