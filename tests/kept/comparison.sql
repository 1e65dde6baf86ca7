-- A comparison stored by optiframe 0.1.0 before its modules moved and its distributions were renamed.
PRAGMA application_id = 1869640809;
BEGIN TRANSACTION;
CREATE TABLE best (
    solved TEXT PRIMARY KEY, objective REAL NOT NULL, key TEXT NOT NULL, found TEXT NOT NULL
);
INSERT INTO "best" VALUES('26d4cb359cf68381d5b1d766248dbf589b5f0858f53d9436384ff52cd6c73c0f',0.25,'5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973','2026-11-22T17:30:54.956928+00:00');
CREATE TABLE cells (
    key TEXT PRIMARY KEY, run INTEGER NOT NULL, finished TEXT NOT NULL,
    status TEXT NOT NULL, message TEXT NOT NULL, objective REAL, violation REAL,
    metrics TEXT NOT NULL, findings TEXT NOT NULL, solved TEXT NOT NULL, iterations INTEGER NOT NULL,
    time REAL, times TEXT NOT NULL, setup REAL, judging REAL, loading REAL, warmup REAL,
    cpu REAL, wall REAL, memory REAL, evaluations TEXT NOT NULL, better TEXT NOT NULL,
    stderr TEXT NOT NULL, traceback TEXT NOT NULL, versions TEXT NOT NULL, environment TEXT NOT NULL,
    columns TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "cells" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',1,'2026-11-22T17:30:54.956928+00:00','converged','residual 0 is at most 1e-06',0.25,0.0,'{}','[]','26d4cb359cf68381d5b1d766248dbf589b5f0858f53d9436384ff52cd6c73c0f',5,4.04495099974155891686e-03,'[0.004044950999741559]',1.68068200036941561847e-03,5.25010999808728229254e-04,6.79279719000078330282e-01,9.09510700057580834254e-03,2.2721629999999937155e-03,1.59148943399941344978e+00,92917760.0,'{"value": 6.0, "gradient": 6.0}','{}','','','{"python": "3.11.7", "optiframe": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"}','{"python": "3.11.7", "platform": "Linux-x86_64", "cpu": "AMD EPYC", "threads": 1, "libraries": [{"user_api": "blas", "internal_api": "openblas", "version": "0.3.30", "architecture": "SkylakeX", "threading_layer": "pthreads", "num_threads": 1}, {"user_api": "blas", "internal_api": "openblas", "version": "0.3.31.188.0", "architecture": "SkylakeX", "threading_layer": "pthreads", "num_threads": 1}]}','["iteration", "time", "objective", "violation", "residual"]');
INSERT INTO "cells" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',1,'2026-11-22T17:30:54.974841+00:00','converged','residual 0 is at most 1e-06',0.25,0.0,'{}','[]','26d4cb359cf68381d5b1d766248dbf589b5f0858f53d9436384ff52cd6c73c0f',5,1.03231600041908677667e-03,'[0.0010323160004190868]',5.94615000045450869947e-03,5.78060000407276675105e-04,7.34208193999620561953e-01,8.79361800070910248905e-03,1.60036200000002182264e-03,1.62075519900008657714e+00,92966912.0,'{"value": 6.0, "gradient": 6.0}','{}','','','{"python": "3.11.7", "optiframe": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"}','{"python": "3.11.7", "platform": "Linux-x86_64", "cpu": "AMD EPYC", "threads": 1, "libraries": [{"user_api": "blas", "internal_api": "openblas", "version": "0.3.30", "architecture": "SkylakeX", "threading_layer": "pthreads", "num_threads": 1}, {"user_api": "blas", "internal_api": "openblas", "version": "0.3.31.188.0", "architecture": "SkylakeX", "threading_layer": "pthreads", "num_threads": 1}]}','["iteration", "time", "objective", "violation", "residual"]');
CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, since TEXT NOT NULL);
CREATE TABLE entries (
    plan TEXT NOT NULL, position INTEGER NOT NULL, turn INTEGER NOT NULL, key TEXT NOT NULL,
    problem TEXT NOT NULL, solver TEXT NOT NULL, seed TEXT NOT NULL, spec TEXT NOT NULL,
    PRIMARY KEY (plan, position)
) WITHOUT ROWID;
INSERT INTO "entries" VALUES('ed0ceff9b05ae33a83e0e80e1767125262edf6672f05e183a1ef3e029dc2aeb4',0,0,'611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305','bowl','scipy.lbfgs','0','{"problem": {"title": "bowl", "name": "minimize", "table": {"name": "minimize", "objective": {"name": "least-squares", "matrix": [[2.0, 0.0], [0.0, 1.0]], "target": [2.0, 3.0]}, "over": {"name": "box", "lower": 0.0, "upper": 2.0}}, "content": "d52d60342d9e8b3763c9f95f773ab61843b0e09f8097f387612f477df9b545ed", "versions": {}, "where": "compare.toml line 3: problem.0"}, "solver": {"title": "scipy.lbfgs", "name": "scipy.lbfgs", "table": {"name": "scipy.lbfgs"}, "content": "1166c7d5568f0f1654fe8a756f2d8a34d228abb4006992240a76affe4dfeaeeb", "versions": {"optiframe": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"}, "where": "compare.toml line 9: solver.0"}}');
INSERT INTO "entries" VALUES('ed0ceff9b05ae33a83e0e80e1767125262edf6672f05e183a1ef3e029dc2aeb4',1,1,'5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973','bowl','scipy.lbfgs','1','{"problem": {"title": "bowl", "name": "minimize", "table": {"name": "minimize", "objective": {"name": "least-squares", "matrix": [[2.0, 0.0], [0.0, 1.0]], "target": [2.0, 3.0]}, "over": {"name": "box", "lower": 0.0, "upper": 2.0}}, "content": "d52d60342d9e8b3763c9f95f773ab61843b0e09f8097f387612f477df9b545ed", "versions": {}, "where": "compare.toml line 3: problem.0"}, "solver": {"title": "scipy.lbfgs", "name": "scipy.lbfgs", "table": {"name": "scipy.lbfgs"}, "content": "1166c7d5568f0f1654fe8a756f2d8a34d228abb4006992240a76affe4dfeaeeb", "versions": {"optiframe": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"}, "where": "compare.toml line 9: solver.0"}}');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('schema','1');
INSERT INTO "meta" VALUES('written by','0.1.0');
CREATE TABLE owners (
    id TEXT PRIMARY KEY, machine TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL,
    beat REAL NOT NULL
);
CREATE TABLE plans (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, config TEXT NOT NULL, settings TEXT NOT NULL
);
INSERT INTO "plans" VALUES('ed0ceff9b05ae33a83e0e80e1767125262edf6672f05e183a1ef3e029dc2aeb4','compare','seeds = [0, 1]

[[problem]]
name = "minimize"
title = "bowl"
objective = { name = "least-squares", matrix = [[2.0, 0.0], [0.0, 1.0]], target = [2.0, 3.0] }
over = { name = "box", lower = 0.0, upper = 2.0 }

[[solver]]
name = "scipy.lbfgs"

[limits]
time = 60.0
','{"budget": {"time": null, "iterations": 10000, "tolerance": 1e-06}, "limits": {"time": 60.0, "memory": null, "threads": 1}, "measure": {"repeat": 1, "warmup": true, "count": true}, "executor": {"name": "local", "workers": null, "address": null}, "order_seed": 0, "gaps": [0.01, 0.0001, 1e-06], "better": {}, "folder": "/somewhere", "modules": []}');
CREATE TABLE points (
    key TEXT NOT NULL, number INTEGER NOT NULL,
    iteration, time REAL, objective REAL, violation REAL, residual REAL, info TEXT,
    PRIMARY KEY (key, number)
) WITHOUT ROWID;
INSERT INTO "points" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',0,1.0,2.32439389178298351501e-03,1.5625,0.0,2.0,NULL);
INSERT INTO "points" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',1,2.0,3.00645581567310707371e-03,4.30168197135430530053e-01,0.0,4.60584130266218583216e-01,NULL);
INSERT INTO "points" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',2,3.0,3.19832000102924932441e-03,2.50129130484371964282e-01,0.0,2.27271189878477386514e-02,NULL);
INSERT INTO "points" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',3,4.0,3.91818705585563267779e-03,2.50001709315067599526e-01,0.0,2.6148155327754274424e-03,NULL);
INSERT INTO "points" VALUES('5ad6d127a6d5ab26116f04276cf097a88fba85ca6632aaec9966ef606f10a973',4,5.0,4.04495099974155891686e-03,0.25,0.0,0.0,NULL);
INSERT INTO "points" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',0,1.0,7.38517950009794847503e-04,1.5625,0.0,2.0,NULL);
INSERT INTO "points" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',1,2.0,8.86353975644045143263e-04,4.30168197135430530053e-01,0.0,4.60584130266218583216e-01,NULL);
INSERT INTO "points" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',2,3.0,9.7889050285795043034e-04,2.50129130484371964282e-01,0.0,2.27271189878477386514e-02,NULL);
INSERT INTO "points" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',3,4.0,1.01922882726967101336e-03,2.50001709315067599526e-01,0.0,2.6148155327754274424e-03,NULL);
INSERT INTO "points" VALUES('611e8ad507f683575f959a67e69f3c87d2217f84b0a8e204ea4b94aafbf1a305',4,5.0,1.03231600041908677667e-03,0.25,0.0,0.0,NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, plan TEXT NOT NULL, environment TEXT NOT NULL,
    started TEXT NOT NULL, ended TEXT
);
INSERT INTO "runs" VALUES(1,'ed0ceff9b05ae33a83e0e80e1767125262edf6672f05e183a1ef3e029dc2aeb4','{"python": "3.11.7", "implementation": "CPython", "platform": "Linux-x86_64", "machine": "x86_64", "host": "somewhere", "cpu": "AMD EPYC", "cores": 2, "usable cores": 2, "memory": 25276502016, "versions": {"optiframe": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "pydantic": "2.14.3", "psutil": "7.2.2", "threadpoolctl": "3.8.0", "cloudpickle": "3.1.2"}, "plugins": {"optiframe": "0.1.0", "optiframe-comrade": "0.1.0", "optiframe-hodgerank": "0.1.0", "optiframe-manifold": "0.1.0", "optiframe-peers": "0.1.0", "optiframe-rankone": "0.1.0", "optiframe-tvcs": "0.1.0"}}','2026-11-22T17:30:53.331214+00:00','2026-11-22T17:30:54.976743+00:00');
COMMIT;
