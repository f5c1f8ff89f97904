/** Sums and products of matrices, which are not worked out, and sums of unit vectors. */
import { labelled } from "../labelled.ts";

const r = String.raw;
const M = r`\begin{pmatrix}1&2\\3&4\end{pmatrix}`;

export const pairs = [
  ...labelled(
    "sums and products of matrices are not evaluated",
    [M, r`${M}+\begin{pmatrix}1\\2\end{pmatrix}`, "undecided"],
    [r`\begin{pmatrix}5\\11\end{pmatrix}`, r`\begin{pmatrix}1\\2\end{pmatrix}${M}`, "undecided"],
    [M, r`${M}^{-1}`, "undecided"],
  ),
  ...labelled(
    "i, j and k are unit vectors where j stands beside i",
    ["3i-2j", r`3\mathbf{i}-2\mathbf{j}`, "equal"],
    [r`3\mathbf{i}-2\mathbf{j}`, "3i-2j", "equal"],
    [r`3\mathbf{i}-2\mathbf{j}`, r`3\hat{i}-2\hat{j}`, "equal"],
    [r`3\hat{\imath}-2\hat{\jmath}`, "3i-2j", "equal"],
    [r`3\hat{\mathbf{i}}-2\hat{\mathbf{j}}`, "3i - 2j", "equal"],
    [r`3\vec{i}-2\vec{j}`, "-2j+3i", "equal"],
    [r`3\mathbf{i}-2\mathbf{j}`, "2i-3j", "different"],
    [r`3\mathbf{i}-2\mathbf{j}`, "3i+2j", "different"],
    [r`3\hat{i}-2\hat{j}+\hat{k}`, "3i-2j+k", "equal"],
    [r`3\hat{i}-2\hat{j}+\hat{k}`, "3i-2j-k", "different"],
    [r`3\hat{i}-2\hat{j}+\hat{k}`, "3i-2j", "different"],
    ["(3,-2)", "3i+2j", "different", "undecided"],
    ["(-2,3)", "3i-2j", "different", "undecided"],
    [r`\langle 3,1,0\rangle`, r`3\mathbf{i}+\mathbf{k}`, "different", "undecided"],
    [r`2(\mathbf{i}+\mathbf{j})`, "2i+2j", "equal"],
    [r`2(\mathbf{i}+\mathbf{j})`, "2i+j", "different"],
    [r`\frac{3\mathbf{i}-4\mathbf{j}}{5}`, r`\frac35 i-\frac45 j`, "equal"],
    [r`\cos t\,\mathbf{i}+\sin t\,\mathbf{j}`, r`(\sin t, \cos t)`, "different", "undecided"],
  ),
  ...labelled(
    "i alone is a number",
    ["3-2i", "3-2i", "equal"],
    ["3-2i", "-2i+3", "equal"],
    ["3-2i", "3+2i", "different"],
    ["3-2i", "3i-2", "different"],
    ["3i", r`3\mathbf{i}`, "undecided"],
    ["(3,-2)", "3-2i", "different"],
  ),
];
