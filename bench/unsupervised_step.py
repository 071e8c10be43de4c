"""One UCCH step and one DGCPN step in PyTorch; see unsupervised_step.cc.

Written as the authors' public code has them (penghu-cs/UCCH, Atmegal/DGCPN), with
plain torch.randint for UCCH's alias draws.  Prints the fastest step of each, in
seconds.
"""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

N, IMAGE, TEXT, HIDDEN, BITS = 5000, 1280, 818, 1024, 64


def layers(*widths):
    out = []
    for i, o in zip(widths, widths[1:]):
        out += [nn.Linear(i, o), nn.ReLU()]
    return nn.Sequential(*out)


class Net(nn.Module):
    def __init__(self, widths, dropout):
        super().__init__()
        self.hidden = layers(*widths)
        self.dropout = nn.Dropout(dropout)
        self.hash = nn.Linear(widths[-1], BITS)

    def forward(self, x):
        return torch.tanh(self.hash(self.dropout(self.hidden(x))))


def fastest(step, batch, steps):
    best = float("inf")
    taken = -2  # two to warm up
    while taken < steps:
        for rows in torch.randperm(N).split(batch):
            if len(rows) < batch or taken == steps:
                break
            start = time.perf_counter()
            step(rows)
            if taken >= 0:
                best = min(best, time.perf_counter() - start)
            taken += 1
    return best


def ucch(image, text, K=4096, tau=0.9, momentum=0.4, beta=0.9, margin=0.2, shift=1.0):
    img, txt = Net((IMAGE, HIDDEN, HIDDEN), 0), Net((TEXT, HIDDEN), 0)
    parameters = list(img.parameters()) + list(txt.parameters())
    adam = torch.optim.Adam(parameters, lr=1e-4, weight_decay=1e-6)
    memory = F.normalize(torch.rand(N, BITS).sub(0.5).sign())
    T = tau * BITS**0.5

    def ranking(scores, own):
        mask = (scores >= own - margin).float().detach()
        cost = scores * mask + (1 - mask) * (scores - shift)
        return -cost.diag() + cost.exp().sum(1).log() + margin

    def step(rows):
        m = len(rows)
        x, y = F.normalize(img(image[rows])), F.normalize(txt(text[rows]))
        drawn = torch.randint(0, N, (m, K + 1))
        drawn.select(1, 0).copy_(rows)
        keys = torch.index_select(memory, 0, drawn.view(-1)).view(m, K + 1, BITS).sign_()
        target = torch.zeros(m, dtype=torch.long)
        scores = [torch.bmm(keys, h.view(m, BITS, 1)).squeeze(2) / T for h in (x, y)]
        contrast = sum(F.cross_entropy(s, target) for s in scores)
        M = x.mm(y.t())
        own = M.diag().view(-1, 1)
        rank = ranking(M, own).mean() + ranking(M.t(), own).mean()
        loss = beta * contrast + (1 - beta) * rank
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
        with torch.no_grad():
            mean = F.normalize((x + y) / 2)
            moved = memory.index_select(0, rows).mul_(momentum).add_(mean * (1 - momentum))
            memory.index_copy_(0, rows, F.normalize(moved))
        return loss.item()

    return step


def dgcpn(image, text, K=1.5, dw=1.0, cw=1.0):
    img, txt = Net((IMAGE, HIDDEN), 0.5), Net((TEXT, HIDDEN), 0.5)
    settings = dict(lr=0.005, momentum=0.9, weight_decay=5e-4)
    opt_i = torch.optim.SGD(img.parameters(), **settings)
    opt_t = torch.optim.SGD(txt.parameters(), **settings)
    S = torch.rand(N, N)

    def J(code_i, code_t, S):
        I, T = F.normalize(code_i), F.normalize(code_t)
        II, TT, IT = I.mm(I.t()), T.mm(T.t()), I.mm(T.t())
        off = 1 - torch.eye(len(S))
        pair = (IT.diagonal() - K).pow(2).mean()
        graph = sum(F.mse_loss(C * off, S * off) for C in (TT, IT, II))
        alike = (IT, II), (IT, TT), (II, TT), (IT, IT.t())
        agree = sum(F.mse_loss(a, b) for a, b in alike)
        return pair + dw * graph + cw * agree

    def update(loss, *optimizers):
        for o in optimizers:
            o.zero_grad()
        loss.backward()
        for o in optimizers:
            o.step()
        return loss.item()

    def step(rows):
        x, y, s = image[rows], text[rows], S[rows, :][:, rows]
        update(J(img(x), txt(y), s), opt_i, opt_t)
        code_i, code_t = img(x), txt(y)
        update(J(code_i, code_t.sign().detach(), s), opt_i)
        update(J(code_i.sign().detach(), code_t, s), opt_t)

    return step


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    features = torch.rand(N, IMAGE), torch.rand(N, TEXT)
    print(f"ucch {fastest(ucch(*features), 256, 12):.6f}", flush=True)
    print(f"dgcpn {fastest(dgcpn(*features), 32, 60):.6f}", flush=True)
