<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>Age</name>
        <message>
            <source>just now</source>
            <translation>刚刚</translation>
        </message>
        <message>
            <source>%1 s ago</source>
            <translation>%1 秒前</translation>
        </message>
        <message>
            <source>%1 min ago</source>
            <translation>%1 分钟前</translation>
        </message>
        <message>
            <source>%1 h ago</source>
            <translation>%1 小时前</translation>
        </message>
        <message>
            <source>d MMM</source>
            <comment>day and month of a date, in Qt&apos;s letters</comment>
            <translation>M月d日</translation>
        </message>
    </context>
    <context>
        <name>EventKind</name>
        <message>
            <source>asked</source>
            <translation>请求</translation>
        </message>
        <message>
            <source>best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>checkpoint</source>
            <translation>检查点</translation>
        </message>
        <message>
            <source>checkpoint damaged</source>
            <translation>检查点损坏</translation>
        </message>
        <message>
            <source>ended</source>
            <translation>结束</translation>
        </message>
        <message>
            <source>environment</source>
            <translation>环境</translation>
        </message>
        <message>
            <source>error</source>
            <translation>错误</translation>
        </message>
        <message>
            <source>evaluation</source>
            <translation>评估</translation>
        </message>
        <message>
            <source>exported</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>frames lost</source>
            <translation>记录丢失</translation>
        </message>
        <message>
            <source>guard</source>
            <translation>防护</translation>
        </message>
        <message>
            <source>hang</source>
            <translation>挂起</translation>
        </message>
        <message>
            <source>hang over</source>
            <translation>恢复</translation>
        </message>
        <message>
            <source>note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>out of memory</source>
            <translation>内存不足</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>plan</source>
            <translation>计划</translation>
        </message>
        <message>
            <source>program</source>
            <translation>程序</translation>
        </message>
        <message>
            <source>rate cut</source>
            <translation>降低学习率</translation>
        </message>
        <message>
            <source>restarted</source>
            <translation>已重启</translation>
        </message>
        <message>
            <source>resume report</source>
            <translation>续训报告</translation>
        </message>
        <message>
            <source>resumed</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>rolled back</source>
            <translation>已回退</translation>
        </message>
        <message>
            <source>save failed</source>
            <translation>保存失败</translation>
        </message>
        <message>
            <source>skipped</source>
            <translation>已跳过</translation>
        </message>
        <message>
            <source>stacks</source>
            <translation>调用栈</translation>
        </message>
        <message>
            <source>stop asked</source>
            <translation>请求停止</translation>
        </message>
        <message>
            <source>warning</source>
            <translation>警告</translation>
        </message>
    </context>
    <context>
        <name>Hang</name>
        <message>
            <source>rank %1 silent for %2 s in %3, update %4</source>
            <translation>进程 %1 已沉默 %2 秒（%3，更新 %4）</translation>
        </message>
        <message>
            <source>rank %1 does not get on for %2 s in %3, update %4</source>
            <translation>进程 %1 已停滞 %2 秒（%3，更新 %4）</translation>
        </message>
    </context>
    <context>
        <name>Phase</name>
        <message>
            <source>starting</source>
            <translation>正在启动</translation>
        </message>
        <message>
            <source>loading data</source>
            <translation>正在加载数据</translation>
        </message>
        <message>
            <source>building the model</source>
            <translation>正在构建模型</translation>
        </message>
        <message>
            <source>loading the checkpoint</source>
            <translation>正在加载检查点</translation>
        </message>
        <message>
            <source>first update</source>
            <translation>第一次更新</translation>
        </message>
        <message>
            <source>training</source>
            <translation>训练中</translation>
        </message>
        <message>
            <source>evaluating</source>
            <translation>正在评估</translation>
        </message>
        <message>
            <source>saving</source>
            <translation>正在保存</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>finishing</source>
            <translation>正在收尾</translation>
        </message>
        <message>
            <source>ended</source>
            <translation>结束</translation>
        </message>
        <message>
            <source>reading a batch</source>
            <translation>读取批次</translation>
        </message>
        <message>
            <source>forward and backward</source>
            <translation>前向与反向</translation>
        </message>
        <message>
            <source>reduce gradients</source>
            <translation>归约梯度</translation>
        </message>
        <message>
            <source>exchange with the other ranks</source>
            <translation>与其他 rank 交换</translation>
        </message>
        <message>
            <source>apply the update</source>
            <translation>应用更新</translation>
        </message>
    </context>
    <context>
        <name>QDialog</name>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
    </context>
    <context>
        <name>QObject</name>
        <message>
            <source>measuring</source>
            <translation>正在测量</translation>
        </message>
        <message>
            <source>Browse for %1</source>
            <translation>为“%1”浏览</translation>
        </message>
        <message>
            <source>Browse…</source>
            <translation>浏览…</translation>
        </message>
    </context>
    <context>
        <name>RunKind</name>
        <message>
            <source>This script keeps its own checkpoints.</source>
            <translation>此脚本自行保存检查点。</translation>
        </message>
        <message>
            <source>This run was read from files of another program; it has no checkpoints here.</source>
            <translation>此运行读自其他程序的文件；这里没有检查点。</translation>
        </message>
        <message>
            <source>This run was read from files of another program, which is not known here.</source>
            <translation>此运行读自其他程序的文件，该程序在此未知。</translation>
        </message>
    </context>
    <context>
        <name>RunNumbers</name>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>of %1 · %2 %</source>
            <translation>共 %1 · %2 %</translation>
        </message>
        <message>
            <source>no end planned</source>
            <translation>未设终点</translation>
        </message>
        <message>
            <source>Training time</source>
            <translation>训练时间</translation>
        </message>
        <message>
            <source>ended %1</source>
            <translation>结束于 %1</translation>
        </message>
        <message>
            <source>Time left</source>
            <translation>剩余时间</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>ends %1</source>
            <translation>预计 %1 结束</translation>
        </message>
        <message>
            <source>Train loss</source>
            <translation>训练损失</translation>
        </message>
        <message>
            <source>newest</source>
            <translation>最新</translation>
        </message>
        <message>
            <source>Best evaluation</source>
            <translation>最佳评估</translation>
        </message>
        <message>
            <source>none yet</source>
            <translation>尚无</translation>
        </message>
        <message>
            <source>Best eval %1</source>
            <translation>最佳评估 %1</translation>
        </message>
        <message>
            <source>step %1</source>
            <translation>第 %1 步</translation>
        </message>
        <message>
            <source>Samples/s</source>
            <translation>样本/秒</translation>
        </message>
        <message>
            <source>%1 updates/s</source>
            <translation>%1 次更新/秒</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message numerus="yes">
            <source>%n thread(s)</source>
            <translation>
                <numerusform>%n 个线程</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>no checkpoint yet · %Ln update(s) at risk</source>
            <translation>
                <numerusform>尚无检查点 · %Ln 次更新未保存</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>last checkpoint %1 · %Ln update(s) at risk</source>
            <translation>
                <numerusform>上个检查点 %1 · %Ln 次更新未保存</numerusform>
            </translation>
        </message>
        <message>
            <source>does not get on</source>
            <translation>停滞</translation>
        </message>
        <message>
            <source>newest %1 · smoothed</source>
            <translation>最新 %1 · 平滑值</translation>
        </message>
    </context>
    <context>
        <name>RunState</name>
        <message>
            <source>Queued</source>
            <translation>排队中</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>启动中</translation>
        </message>
        <message>
            <source>Running</source>
            <translation>运行中</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>Stopping</source>
            <translation>停止中</translation>
        </message>
        <message>
            <source>Completed</source>
            <translation>已完成</translation>
        </message>
        <message>
            <source>Stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>Cancelled</source>
            <translation>已取消</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Killed</source>
            <translation>被终止</translation>
        </message>
        <message>
            <source>Out of memory</source>
            <translation>内存不足</translation>
        </message>
        <message>
            <source>Diverged</source>
            <translation>已发散</translation>
        </message>
        <message>
            <source>Interrupted</source>
            <translation>已中断</translation>
        </message>
        <message>
            <source>Lost</source>
            <translation>失联</translation>
        </message>
        <message>
            <source>Hangs</source>
            <translation>停滞</translation>
        </message>
        <message>
            <source>Not recorded</source>
            <translation>未记录</translation>
        </message>
    </context>
    <context>
        <name>StopStage</name>
        <message>
            <source>asked to stop</source>
            <translation>已请求停止</translation>
        </message>
        <message>
            <source>finishing the update after %1</source>
            <translation>正在完成 %1 之后的更新</translation>
        </message>
        <message>
            <source>saving step %1</source>
            <translation>正在保存步骤 %1</translation>
        </message>
        <message>
            <source>leaving</source>
            <translation>正在退出</translation>
        </message>
        <message>
            <source>told to leave at once</source>
            <translation>已要求立即退出</translation>
        </message>
        <message>
            <source>ended by force</source>
            <translation>已强制结束</translation>
        </message>
        <message>
            <source>%1 s</source>
            <translation>%1 秒</translation>
        </message>
        <message>
            <source>ends by force in %1 s</source>
            <translation>%1 秒后强制结束</translation>
        </message>
        <message>
            <source>told to leave in %1 s</source>
            <translation>%1 秒后要求退出</translation>
        </message>
    </context>
    <context>
        <name>Told</name>
        <message>
            <source>Stopped, as asked</source>
            <translation>已按要求停止</translation>
        </message>
        <message>
            <source>Stopped, as asked, before the first update</source>
            <translation>已按要求在第一次更新之前停止</translation>
        </message>
        <message>
            <source>Stopped without saving, as asked</source>
            <translation>已按要求停止，未保存</translation>
        </message>
        <message>
            <source>Stopped by a signal</source>
            <translation>被信号停止</translation>
        </message>
        <message>
            <source>Stopped on request</source>
            <translation>已按要求停止</translation>
        </message>
        <message>
            <source>Stopped on request, with %1</source>
            <translation>已按要求停止，%1</translation>
        </message>
        <message>
            <source>Stopped on request, by SIGTERM</source>
            <translation>已按要求以 SIGTERM 停止</translation>
        </message>
        <message>
            <source>Finished 1 epoch at update %1, learning rate at %2 of its peak</source>
            <translation>在第 %1 次更新完成 1 轮，学习率为峰值的 %2</translation>
        </message>
        <message>
            <source>Finished %1 epochs at update %2, learning rate at %3 of its peak</source>
            <translation>在第 %2 次更新完成 %1 轮，学习率为峰值的 %3</translation>
        </message>
        <message>
            <source>Reached run.max_updates at update %1</source>
            <translation>在第 %1 次更新达到 run.max_updates</translation>
        </message>
        <message>
            <source>Its supervisor was lost</source>
            <translation>监管进程已丢失</translation>
        </message>
        <message>
            <source>Its supervisor was lost; the worker saved %1 and left</source>
            <translation>监管进程已丢失；工作进程保存了 %1 后退出</translation>
        </message>
        <message>
            <source>The machine was restarted while it ran</source>
            <translation>运行期间机器被重启</translation>
        </message>
        <message>
            <source>The machine was restarted while it ran; the worker saved %1 and left</source>
            <translation>运行期间机器被重启；工作进程保存了 %1 后退出</translation>
        </message>
        <message>
            <source>Its supervisor was lost; what it ran finishes and leaves</source>
            <translation>监管进程已丢失；其运行的进程正在收尾并退出</translation>
        </message>
        <message>
            <source>%1. Its supervisor was lost meanwhile</source>
            <translation>%1。其间监管进程已丢失</translation>
        </message>
        <message>
            <source>It was interrupted before its worker started</source>
            <translation>在工作进程启动之前被中断</translation>
        </message>
        <message>
            <source>It is in no queue of this machine any more</source>
            <translation>已不在本机的任何队列中</translation>
        </message>
        <message>
            <source>The system ended the worker because memory ran out; use a smaller data.batch_size (accumulation.micro_batches makes up for it) or a smaller model</source>
            <translation>内存耗尽，系统结束了工作进程；请减小 data.batch_size（用 accumulation.micro_batches 补足）或使用更小的模型</translation>
        </message>
        <message>
            <source>The system ended the command because memory ran out</source>
            <translation>内存耗尽，系统结束了命令</translation>
        </message>
        <message>
            <source>The worker was ended: %1</source>
            <translation>工作进程被结束：%1</translation>
        </message>
        <message>
            <source>The worker was ended by signal %1</source>
            <translation>工作进程被信号 %1 结束</translation>
        </message>
        <message>
            <source>The worker ended and nobody knows how</source>
            <translation>工作进程已结束，原因不明</translation>
        </message>
        <message>
            <source>The worker left without saying how it ended</source>
            <translation>工作进程退出时未说明如何结束</translation>
        </message>
        <message>
            <source>The worker failed with exit code %1</source>
            <translation>工作进程失败，退出码 %1</translation>
        </message>
        <message>
            <source>Memory ran out</source>
            <translation>内存耗尽</translation>
        </message>
        <message>
            <source>The numbers are no longer finite</source>
            <translation>数值不再有限</translation>
        </message>
        <message>
            <source>The command ended and nobody knows how</source>
            <translation>命令已结束，原因不明</translation>
        </message>
        <message>
            <source>The command was ended: %1</source>
            <translation>命令被结束：%1</translation>
        </message>
        <message>
            <source>The command was ended by signal %1</source>
            <translation>命令被信号 %1 结束</translation>
        </message>
        <message>
            <source>The command ended with exit code 0</source>
            <translation>命令以退出码 0 结束</translation>
        </message>
        <message>
            <source>The command failed with exit code %1</source>
            <translation>命令失败，退出码 %1</translation>
        </message>
        <message>
            <source>The script said that it failed</source>
            <translation>脚本报告自己失败</translation>
        </message>
        <message>
            <source>The script was ended: %1</source>
            <translation>脚本被结束：%1</translation>
        </message>
        <message>
            <source>The script failed: %1</source>
            <translation>脚本失败：%1</translation>
        </message>
        <message>
            <source>The script ended</source>
            <translation>脚本已结束</translation>
        </message>
        <message>
            <source>The script went away without saying how it ended: it was killed, or it crashed</source>
            <translation>脚本未说明如何结束就消失了：被杀死或崩溃</translation>
        </message>
        <message>
            <source>Rank %1: %2</source>
            <translation>Rank %1：%2</translation>
        </message>
        <message>
            <source>%1; its log ends with: %2</source>
            <translation>%1；其日志结尾为：%2</translation>
        </message>
        <message>
            <source>%1 (then ended by signal %2)</source>
            <translation>%1（随后被信号 %2 结束）</translation>
        </message>
        <message>
            <source>Evaluation at update %1: %2</source>
            <translation>第 %1 次更新时的评估：%2</translation>
        </message>
        <message>
            <source>Best %1 so far: %2</source>
            <translation>目前最佳 %1：%2</translation>
        </message>
        <message>
            <source>Saved checkpoint %1 (%2)</source>
            <translation>已保存检查点 %1（%2）</translation>
        </message>
        <message>
            <source>Paused, as asked</source>
            <translation>已按要求暂停</translation>
        </message>
        <message>
            <source>Going on</source>
            <translation>继续进行</translation>
        </message>
        <message>
            <source>Goes on</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Pauses after this update; memory stays taken</source>
            <translation>本次更新后暂停；内存保持占用</translation>
        </message>
        <message>
            <source>Pauses after this update, saves, and lets its memory go</source>
            <translation>本次更新后暂停，保存并释放内存</translation>
        </message>
        <message>
            <source>Went back to update %1 (%2 of %3), learning rate now %4</source>
            <translation>已回退到第 %1 次更新（第 %2 次，最多 %3 次），学习率现为 %4</translation>
        </message>
        <message>
            <source>Goes on by itself from update %1 after a crash. %2</source>
            <translation>崩溃后自行从第 %1 次更新继续。%2</translation>
        </message>
        <message>
            <source>Checkpoint %1 was re-read and is damaged: %2. It is no longer offered; older ones are kept</source>
            <translation>复查发现检查点 %1 已损坏：%2。不再提供使用；较早的检查点会保留</translation>
        </message>
        <message>
            <source>Saves after this update</source>
            <translation>本次更新后保存</translation>
        </message>
        <message>
            <source>The script is asked to save</source>
            <translation>已请求脚本保存</translation>
        </message>
        <message>
            <source>Finishes this update, saves and stops</source>
            <translation>完成本次更新，保存后停止</translation>
        </message>
        <message>
            <source>Stops without saving</source>
            <translation>不保存即停止</translation>
        </message>
        <message>
            <source>The script is asked to stop</source>
            <translation>已请求脚本停止</translation>
        </message>
        <message>
            <source>The script is told to leave (SIGTERM)</source>
            <translation>已通知脚本退出（SIGTERM）</translation>
        </message>
        <message>
            <source>Is held where it is (SIGSTOP); memory stays taken</source>
            <translation>已原地挂起（SIGSTOP）；内存保持占用</translation>
        </message>
        <message>
            <source>Saved; the memory is let go</source>
            <translation>已保存；正在释放内存</translation>
        </message>
        <message>
            <source>Paused with its memory let go; continue goes on exactly from there</source>
            <translation>已暂停并释放内存；“继续”会从该处精确续跑</translation>
        </message>
        <message>
            <source>Asked by signal %1: %2</source>
            <translation>收到信号 %1 的请求：%2</translation>
        </message>
        <message>
            <source>Asked again: leaving at once without saving</source>
            <translation>再次收到请求：不保存，立即退出</translation>
        </message>
        <message>
            <source>The command was told to leave at once (SIGTERM); SIGKILL in %1 s</source>
            <translation>已通知命令立即退出（SIGTERM）；%1 秒后 SIGKILL</translation>
        </message>
        <message>
            <source>The worker was told to leave at once (SIGTERM); SIGKILL in %1 s</source>
            <translation>已通知工作进程立即退出（SIGTERM）；%1 秒后 SIGKILL</translation>
        </message>
        <message>
            <source>The workers were told to leave at once (SIGTERM); SIGKILL in %1 s</source>
            <translation>已通知各工作进程立即退出（SIGTERM）；%1 秒后 SIGKILL</translation>
        </message>
        <message>
            <source>The command was ended by SIGKILL</source>
            <translation>命令已被 SIGKILL 结束</translation>
        </message>
        <message>
            <source>The worker was ended by SIGKILL</source>
            <translation>工作进程已被 SIGKILL 结束</translation>
        </message>
        <message>
            <source>The workers were ended by SIGKILL</source>
            <translation>各工作进程已被 SIGKILL 结束</translation>
        </message>
        <message>
            <source>No TensorBoard events are written: %1</source>
            <translation>未写入 TensorBoard 事件：%1</translation>
        </message>
        <message>
            <source>No more TensorBoard events are written: %1</source>
            <translation>不再写入 TensorBoard 事件：%1</translation>
        </message>
        <message>
            <source>The folder of this run was removed, so nothing more is recorded; training stops without saving</source>
            <translation>本运行的文件夹已被删除，不再记录任何内容；训练将不保存而停止</translation>
        </message>
        <message>
            <source>The folder of this run was removed, so nothing more is recorded; the script goes on, and a stop still reaches it</source>
            <translation>本运行的文件夹已被删除，不再记录任何内容；脚本继续运行，仍可停止</translation>
        </message>
        <message>
            <source>%1 rows were neither recorded in time nor could they be written aside</source>
            <translation>%1 行既未及时记录，也无法另行写出</translation>
        </message>
        <message>
            <source>The best weights could not be left in the export folder: %1</source>
            <translation>无法将最佳权重放入导出文件夹：%1</translation>
        </message>
        <message>
            <source>The notification failed: %1</source>
            <translation>通知失败：%1</translation>
        </message>
        <message>
            <source>A run from the queue has %1 for itself; both will be slower</source>
            <translation>队列中的一个运行独占了 %1；两者都会变慢</translation>
        </message>
        <message>
            <source>The lock %1 was removed, and another run has %2 by now; both will be slower</source>
            <translation>锁 %1 已被删除，另一个运行现已占用 %2；两者都会变慢</translation>
        </message>
        <message>
            <source>The lock %1 was removed, and a run from the queue may start beside this one: %2</source>
            <translation>锁 %1 已被删除，队列中的运行可能会与本运行同时启动：%2</translation>
        </message>
        <message>
            <source>Runs %1 in %2</source>
            <translation>在 %2 中运行 %1</translation>
        </message>
        <message>
            <source>Records process %1: %2 in %3</source>
            <translation>正在记录进程 %1：%2（位于 %3）</translation>
        </message>
        <message>
            <source>Begins again by itself from the start, since there was no checkpoint yet, after a crash. %1</source>
            <translation>崩溃后因尚无检查点而自行从头开始。%1</translation>
        </message>
        <message>
            <source>It could not be saved, so it stays paused and keeps its memory: %1</source>
            <translation>无法保存，因此保持暂停并占用内存：%1</translation>
        </message>
        <message>
            <source>Rank %1 was ended by signal %2; what the first rank is saving is waited for, at most %3 min</source>
            <translation>Rank %1 被信号 %2 结束；正在等待首个 rank 的保存，最多 %3 分钟</translation>
        </message>
        <message>
            <source>Rank %1 ended with exit code %2; what the first rank is saving is waited for, at most %3 min</source>
            <translation>Rank %1 以退出码 %2 结束；正在等待首个 rank 的保存，最多 %3 分钟</translation>
        </message>
        <message>
            <source>Rank %1 ended and nobody knows how; what the first rank is saving is waited for, at most %2 min</source>
            <translation>Rank %1 已结束，原因不明；正在等待首个 rank 的保存，最多 %2 分钟</translation>
        </message>
        <message>
            <source>Rank %1 was ended since %2; what the first rank is saving is waited for, at most %3 min</source>
            <translation>Rank %1 被结束，因为 %2；正在等待首个 rank 的保存，最多 %3 分钟</translation>
        </message>
        <message>
            <source>Rank %1 gets on again, after %2 s</source>
            <translation>Rank %1 在 %2 秒后恢复进展</translation>
        </message>
        <message>
            <source>The worker gets on again, after %1 s</source>
            <translation>工作进程在 %1 秒后恢复进展</translation>
        </message>
        <message>
            <source>Rank %1 has been silent for %2 s %3</source>
            <translation>Rank %1 已无响应 %2 秒 %3</translation>
        </message>
        <message>
            <source>Rank %1 has not got on for %2 s %3</source>
            <translation>Rank %1 已 %2 秒没有进展 %3</translation>
        </message>
        <message>
            <source>The worker has been silent for %1 s %2</source>
            <translation>工作进程已无响应 %1 秒 %2</translation>
        </message>
        <message>
            <source>The worker has not got on for %1 s %2</source>
            <translation>工作进程已 %1 秒没有进展 %2</translation>
        </message>
        <message>
            <source>The ranks have waited for one another for %1 s: %2</source>
            <translation>各 rank 已互相等待 %1 秒：%2</translation>
        </message>
        <message>
            <source>The script failed: it did not say why</source>
            <translation>脚本失败：未说明原因</translation>
        </message>
        <message>
            <source>Paused by itself: %1; unpause goes on</source>
            <translation>自行暂停：%1；取消暂停后继续</translation>
        </message>
        <message>
            <source>Stopped by %1</source>
            <translation>被 %1 停止</translation>
        </message>
        <message>
            <source>Paused on request</source>
            <translation>已按要求暂停</translation>
        </message>
        <message>
            <source>Paused by itself</source>
            <translation>自行暂停</translation>
        </message>
        <message>
            <source>Paused by itself: %1</source>
            <translation>自行暂停：%1</translation>
        </message>
        <message>
            <source>Its supervisor was lost, and a rank with it; the worker saved %1 and left</source>
            <translation>监管进程已丢失，同时丢失了一个 rank；工作进程保存了 %1 后退出</translation>
        </message>
        <message>
            <source>There is no session in this run folder</source>
            <translation>此运行文件夹中没有会话</translation>
        </message>
        <message>
            <source>Its supervisor was lost before this session began</source>
            <translation>在此会话开始之前监管进程已丢失</translation>
        </message>
        <message>
            <source>The machine was restarted before this session began</source>
            <translation>在此会话开始之前机器被重启</translation>
        </message>
        <message>
            <source>Its supervisor was lost, and a rank with it</source>
            <translation>监管进程已丢失，同时丢失了一个 rank</translation>
        </message>
        <message>
            <source>The run has ended; waits for notify_command (%1), at most %2 s</source>
            <translation>运行已结束；正在等待 notify_command（%1），最多 %2 秒</translation>
        </message>
        <message>
            <source>Imported from %1</source>
            <translation>从 %1 导入</translation>
        </message>
        <message>
            <source>The import was stopped before it was through; import again to go on</source>
            <translation>导入未完成即被停止；再次导入以继续</translation>
        </message>
        <message>
            <source>Following was ended on request</source>
            <translation>已按要求结束跟随</translation>
        </message>
        <message>
            <source>Its files brought nothing new for %1</source>
            <translation>其文件在 %1 内没有新内容</translation>
        </message>
        <message>
            <source>Nothing more can be read of its files: %1</source>
            <translation>无法再从其文件中读取：%1</translation>
        </message>
        <message>
            <source>Its files cannot be read any more: %1</source>
            <translation>其文件已无法读取：%1</translation>
        </message>
        <message>
            <source>What %1 holds could not be recorded: %2</source>
            <translation>无法记录 %1 中的内容：%2</translation>
        </message>
        <message>
            <source>Replayed</source>
            <translation>已重放</translation>
        </message>
        <message>
            <source>The supervisor was lost</source>
            <translation>监管进程已丢失</translation>
        </message>
        <message>
            <source>Update attempt %1 was skipped: %2</source>
            <translation>第 %1 次更新尝试被跳过：%2</translation>
        </message>
        <message>
            <source>Guard, %1: update attempt %2 is left out, since %3</source>
            <translation>守护，%1：第 %2 次更新尝试被舍弃，因为 %3</translation>
        </message>
        <message>
            <source>Guard, %1: update attempt %2 is left out, and the run pauses, since %3</source>
            <translation>守护，%1：第 %2 次更新尝试被舍弃，运行暂停，因为 %3</translation>
        </message>
        <message>
            <source>Guard, %1: update attempt %2 is left out, and the run goes back, since %3</source>
            <translation>守护，%1：第 %2 次更新尝试被舍弃，运行回退，因为 %3</translation>
        </message>
        <message>
            <source>Guard, %1: update attempt %2 is left out, and the run stops, since %3</source>
            <translation>守护，%1：第 %2 次更新尝试被舍弃，运行停止，因为 %3</translation>
        </message>
        <message>
            <source>The run continues exactly: %1</source>
            <translation>运行精确续跑：%1</translation>
        </message>
        <message>
            <source>The run does not continue exactly, it differs at: %1</source>
            <translation>运行未能精确续跑，差异在：%1</translation>
        </message>
        <message>
            <source>Whether the run continues exactly cannot be told, not comparable: %1</source>
            <translation>无法判断运行是否精确续跑，不可比较：%1</translation>
        </message>
        <message>
            <source>The learning rate is now %1: no better %2</source>
            <translation>学习率现为 %1：没有更好的 %2</translation>
        </message>
        <message>
            <source>%1 is not defined for these evaluation data (one class alone, say): by it no evaluation is best, better or worse. Choose another evaluation.best_metric</source>
            <translation>%1 对这些评估数据没有定义（例如只有一个类别）：无法据此判断评估的好坏。请选择另一个 evaluation.best_metric</translation>
        </message>
        <message>
            <source>%1. Training is not affected</source>
            <translation>%1。训练不受影响</translation>
        </message>
        <message>
            <source>The evaluation at update %1 is worse than the best one: %2</source>
            <translation>第 %1 次更新时的评估差于最佳评估：%2</translation>
        </message>
        <message>
            <source>%1, so it stops (guard)</source>
            <translation>%1，因此停止（guard）</translation>
        </message>
        <message>
            <source>%1, so it stops (guard.on_worse)</source>
            <translation>%1，因此停止（guard.on_worse）</translation>
        </message>
        <message>
            <source>No better %1 (evaluation.patience)</source>
            <translation>没有更好的 %1（evaluation.patience）</translation>
        </message>
        <message>
            <source>No sample has weight, so there is nothing to learn from. Look at the weights of the data</source>
            <translation>没有样本带有权重，无从学习。请检查数据的权重</translation>
        </message>
        <message>
            <source>No sample of a whole epoch has weight, so there is nothing to learn from. Look at the weights of the data</source>
            <translation>整整一轮中没有样本带有权重，无从学习。请检查数据的权重</translation>
        </message>
        <message>
            <source>No update could be applied: each of %1 was skipped, as the events tell. Look for huge values in the data, or lower optimizer.learning_rate</source>
            <translation>没有任何更新得以应用：%1 次全部被跳过，详见事件。请检查数据中的极大值，或降低 optimizer.learning_rate</translation>
        </message>
        <message>
            <source>The last %1 updates of the run were skipped, as the events tell. Go back to a checkpoint and lower optimizer.learning_rate</source>
            <translation>运行的最后 %1 次更新被跳过，详见事件。请回到某个检查点并降低 optimizer.learning_rate</translation>
        </message>
        <message>
            <source>%1 updates in a row were skipped, the last because %2. Go back to a checkpoint and lower optimizer.learning_rate</source>
            <translation>连续 %1 次更新被跳过，最后一次因为 %2。请回到某个检查点并降低 optimizer.learning_rate</translation>
        </message>
        <message>
            <source>%1 updates in a row were skipped, the last because %2. Run again with a lower optimizer.learning_rate</source>
            <translation>连续 %1 次更新被跳过，最后一次因为 %2。请以更低的 optimizer.learning_rate 重新运行</translation>
        </message>
        <message>
            <source>Its evaluation was added to checkpoint %1</source>
            <translation>已将评估结果加入检查点 %1</translation>
        </message>
        <message>
            <source>Read %1: %2</source>
            <translation>已读取 %1：%2</translation>
        </message>
        <message>
            <source>Its place in the queue cannot be read: %1</source>
            <translation>无法读取它在队列中的位置：%1</translation>
        </message>
        <message>
            <source>It cannot save as it stops, since %1, so it goes on. Mend that and stop it again, or leave without saving: lathe-trainer stop %2 --discard</source>
            <translation>停止时无法保存，因为%1，因此继续运行。请排除问题后再次停止，或不保存直接退出：lathe-trainer stop %2 --discard</translation>
        </message>
        <message>
            <source>It cannot save, since %1, so its memory is not let go. Mend that, or pause it with its memory: lathe-trainer pause %2</source>
            <translation>无法保存，因为%1，因此不释放内存。请排除问题，或保留内存暂停：lathe-trainer pause %2</translation>
        </message>
        <message>
            <source>Whether it still waits is not known: %1</source>
            <translation>是否仍在等待未知：%1</translation>
        </message>
        <message>
            <source>the ranks waited for one another for %1 s (parallel.wait_seconds)</source>
            <translation>各 rank 互相等待了 %1 秒（parallel.wait_seconds）</translation>
        </message>
        <message>
            <source>it gave no sign of life for %1 s (parallel.wait_seconds)</source>
            <translation>它已 %1 秒没有生命迹象（parallel.wait_seconds）</translation>
        </message>
        <message>
            <source>it gave no sign of life for %1 s while the other ranks waited for it (parallel.wait_seconds)</source>
            <translation>它已 %1 秒没有生命迹象，其他 rank 在等待它（parallel.wait_seconds）</translation>
        </message>
        <message>
            <source>it did not get on for %1 s in %2 while the other ranks waited for it (parallel.wait_seconds)</source>
            <translation>它在 %2 中 %1 秒没有进展，其他 rank 在等待它（parallel.wait_seconds）</translation>
        </message>
        <message>
            <source>it did not get on for %1 s in %2 (parallel.wait_seconds)</source>
            <translation>它在 %2 中 %1 秒没有进展（parallel.wait_seconds）</translation>
        </message>
        <message>
            <source>Its supervisor was lost, and %1, lathe-trainer stop %2 ends it</source>
            <translation>监管进程已丢失，且 %1；lathe-trainer stop %2 可将其结束</translation>
        </message>
        <message>
            <source>It was paused</source>
            <translation>它处于暂停状态</translation>
        </message>
        <message>
            <source>It crashed at this update for this cause before, so it would only come once more (run.restarts_per_hour)</source>
            <translation>它之前已在此次更新因同一原因崩溃，重启只会再次发生（run.restarts_per_hour）</translation>
        </message>
        <message>
            <source>It was restarted %1 time within the last hour (run.restarts_per_hour)</source>
            <translation>最近一小时内已重启 %1 次（run.restarts_per_hour）</translation>
        </message>
        <message>
            <source>It was restarted %1 times within the last hour (run.restarts_per_hour)</source>
            <translation>最近一小时内已重启 %1 次（run.restarts_per_hour）</translation>
        </message>
        <message>
            <source>restart %1 of at most %2 an hour</source>
            <translation>每小时最多 %2 次重启中的第 %1 次</translation>
        </message>
        <message>
            <source>The learning rate of the schedule %1 is not known: %2</source>
            <translation>无法得知调度 %1 的学习率：%2</translation>
        </message>
        <message>
            <source>The run will be %1 updates long; its learning-rate curve keeps %2 unless a new curve is asked for</source>
            <translation>运行将有 %1 次更新；除非要求新曲线，其学习率曲线仍为 %2 次</translation>
        </message>
        <message>
            <source>The learning rate is 0 from here on: nothing would be learned. A new curve (--new-curve) or another schedule.total_updates mends that</source>
            <translation>从此处起学习率为 0：不会学到任何东西。新曲线（--new-curve）或另一个 schedule.total_updates 可以解决</translation>
        </message>
        <message>
            <source>What the worker says of it is not known: %1</source>
            <translation>工作进程对此的回答未知：%1</translation>
        </message>
        <message>
            <source>Data, plug-ins and machine are as at the checkpoint: it can continue exactly</source>
            <translation>数据、插件和机器与检查点时一致：可以精确续跑</translation>
        </message>
        <message>
            <source>Whether it continues exactly could not be told, not comparable: %1</source>
            <translation>将无法判断是否精确续跑，不可比较：%1</translation>
        </message>
        <message>
            <source>%1. It goes on by itself, %2</source>
            <translation>%1。自行继续，%2</translation>
        </message>
        <message>
            <source>%1. It does not go on by itself: %2</source>
            <translation>%1。不会自行继续：%2</translation>
        </message>
        <message>
            <source>%1. It cannot go back: %2</source>
            <translation>%1。无法回退：%2</translation>
        </message>
        <message>
            <source>%1. The run stays where it was, at step %2</source>
            <translation>%1。运行仍停留在原处，第 %2 步</translation>
        </message>
        <message>
            <source>%1. Its last points could not be recorded: %2</source>
            <translation>%1。最后的数据点无法记录：%2</translation>
        </message>
        <message>
            <source>%1. %2 messages of the script are missing: it had to drop them</source>
            <translation>%1。缺少脚本的 %2 条消息：它不得不丢弃</translation>
        </message>
        <message>
            <source>%1. Its micro-batches cannot be smaller than one sample</source>
            <translation>%1。其微批次不能小于一个样本</translation>
        </message>
        <message>
            <source>%1. Its state at update %2 could not be saved, and it goes on from what was saved before, where that is there: %3</source>
            <translation>%1。第 %2 次更新时的状态无法保存；如有之前保存的状态，则从那里继续：%3</translation>
        </message>
        <message>
            <source>%1. Too late to go back: %2</source>
            <translation>%1。已来不及回退：%2</translation>
        </message>
        <message>
            <source>%1. Too late for the pause that was asked for</source>
            <translation>%1。已来不及执行所请求的暂停</translation>
        </message>
        <message>
            <source>%1. The run has gone back %2 time already (guard.max_roll_backs): look for the cause, or go on with a lower optimizer.learning_rate</source>
            <translation>%1。运行已回退 %2 次（guard.max_roll_backs）：请查找原因，或以更低的 optimizer.learning_rate 继续</translation>
        </message>
        <message>
            <source>%1. The run has gone back %2 times already (guard.max_roll_backs): look for the cause, or go on with a lower optimizer.learning_rate</source>
            <translation>%1。运行已回退 %2 次（guard.max_roll_backs）：请查找原因，或以更低的 optimizer.learning_rate 继续</translation>
        </message>
        <message>
            <source>%1. There is nothing before it to go back to: look for the cause in the data, or start with other settings</source>
            <translation>%1。之前没有可以回退的状态：请在数据中查找原因，或以其他设置开始</translation>
        </message>
        <message>
            <source>%1. Goes on from %2; %3 updates that were saved after it must be made once more</source>
            <translation>%1。从 %2 继续；其后已保存的 %3 次更新必须重做</translation>
        </message>
        <message>
            <source>%1 cannot be used: %2</source>
            <translation>%1 无法使用：%2</translation>
        </message>
        <message>
            <source>%1. Goes on from %2; %3 update that was saved after it must be made once more</source>
            <translation>%1。从 %2 继续；其后已保存的 %3 次更新必须重做</translation>
        </message>
        <message>
            <source>%1. Goes on from %2</source>
            <translation>%1。从 %2 继续</translation>
        </message>
        <message>
            <source>The series &quot;%1&quot; is shown as &quot;%2&quot;: another one of this run means the same and has its name</source>
            <translation>系列“%1”显示为“%2”：本运行中另一个系列含义相同并已使用该名称</translation>
        </message>
        <message>
            <source>Nobody knows how many steps there will be</source>
            <translation>步数未知</translation>
        </message>
        <message>
            <source>%1 logs to this run</source>
            <translation>%1 向本运行记录</translation>
        </message>
        <message>
            <source>%1 had to drop %2 of its messages</source>
            <translation>%1 不得不丢弃 %2 条消息</translation>
        </message>
        <message>
            <source>%1 times in all: %2</source>
            <translation>共 %1 次：%2</translation>
        </message>
        <message>
            <source>%1 steps are planned</source>
            <translation>计划 %1 步</translation>
        </message>
        <message>
            <source>Nothing is recorded, since its supervisor stands still: %1</source>
            <translation>监管进程已停住，因此什么都没有记录：%1</translation>
        </message>
        <message>
            <source>Rank %1 gives no sign of life in %2, update %3</source>
            <translation>Rank %1 无响应（%2，更新 %3）</translation>
        </message>
        <message>
            <source>Rank %1 gives no sign of life in %2</source>
            <translation>Rank %1 无响应（%2）</translation>
        </message>
        <message>
            <source>Rank %1 does not get on in %2, update %3</source>
            <translation>Rank %1 停滞（%2，更新 %3）</translation>
        </message>
        <message>
            <source>Rank %1 does not get on in %2</source>
            <translation>Rank %1 停滞（%2）</translation>
        </message>
        <message>
            <source>The worker gives no sign of life in %1, update %2</source>
            <translation>工作进程无响应（%1，更新 %2）</translation>
        </message>
        <message>
            <source>The worker gives no sign of life in %1</source>
            <translation>工作进程无响应（%1）</translation>
        </message>
        <message>
            <source>The worker does not get on in %1, update %2</source>
            <translation>工作进程停滞（%1，更新 %2）</translation>
        </message>
        <message>
            <source>The worker does not get on in %1</source>
            <translation>工作进程停滞（%1）</translation>
        </message>
        <message>
            <source>The ranks wait for one another</source>
            <translation>各 rank 互相等待</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts</name>
        <message>
            <source>branch %1</source>
            <translation>分支 %1</translation>
        </message>
        <message>
            <source>abandoned</source>
            <translation>已放弃</translation>
        </message>
        <message>
            <source>Session %1 began here (%2)</source>
            <translation>会话 %1 从这里开始（%2）</translation>
        </message>
        <message>
            <source>Checkpoint at step %1</source>
            <translation>第 %1 步的检查点</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts::CompareChart</name>
        <message>
            <source>%1: not recorded</source>
            <translation>%1：没有记录</translation>
        </message>
        <message>
            <source>Choose two or more runs</source>
            <translation>请选择两个或更多运行</translation>
        </message>
        <message>
            <source>Reading the histories …</source>
            <translation>正在读取历史…</translation>
        </message>
        <message>
            <source>None of these runs recorded %1</source>
            <translation>这些运行都没有记录 %1</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts::HistogramStrip</name>
        <message>
            <source>Histograms over the steps</source>
            <translation>各步的直方图</translation>
        </message>
        <message numerus="yes">
            <source>%n histogram(s), steps %1 to %2</source>
            <translation>
                <numerusform>%n 个直方图，第 %1 步至第 %2 步</numerusform>
            </translation>
        </message>
        <message>
            <source>step %1</source>
            <translation>第 %1 步</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts::HistogramView</name>
        <message>
            <source>Histogram</source>
            <translation>直方图</translation>
        </message>
        <message numerus="yes">
            <source>%n bin(s), %1 values from %2 to %3</source>
            <translation>
                <numerusform>%n 个区间，%1 个值，从 %2 到 %3</numerusform>
            </translation>
        </message>
        <message>
            <source>%1 … %2: %3</source>
            <translation>%1 … %2：%3</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts::LineChart</name>
        <message>
            <source>1 point</source>
            <translation>1 个点</translation>
        </message>
        <message>
            <source>%1 points</source>
            <translation>%1 个点</translation>
        </message>
        <message>
            <source>%1 NaN or infinite</source>
            <translation>%1 个 NaN 或无穷</translation>
        </message>
        <message>
            <source>%1 not shown (≤ 0)</source>
            <translation>%1 个未显示（≤ 0）</translation>
        </message>
        <message>
            <source>No value above 0 to show on a logarithmic axis</source>
            <translation>没有大于 0 的值可在对数轴上显示</translation>
        </message>
        <message>
            <source>outliers beyond the edge</source>
            <translation>离群点在边缘之外</translation>
        </message>
        <message>
            <source>%1 (hidden)</source>
            <translation>%1（已隐藏）</translation>
        </message>
        <message>
            <source>Curves: %1</source>
            <translation>曲线：%1</translation>
        </message>
        <message>
            <source>step %1</source>
            <translation>第 %1 步</translation>
        </message>
    </context>
    <context>
        <name>lathe::charts::RunCharts</name>
        <message>
            <source>Loss</source>
            <translation>损失</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Gradient norm</source>
            <translation>梯度范数</translation>
        </message>
        <message>
            <source>Samples per second</source>
            <translation>每秒样本数</translation>
        </message>
        <message>
            <source>train</source>
            <translation>训练</translation>
        </message>
        <message>
            <source>evaluation</source>
            <translation>评估</translation>
        </message>
        <message>
            <source>rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>norm</source>
            <translation>范数</translation>
        </message>
        <message>
            <source>samples/s</source>
            <translation>样本/秒</translation>
        </message>
        <message>
            <source>Reading the history …</source>
            <translation>正在读取历史…</translation>
        </message>
        <message>
            <source>Nothing was recorded</source>
            <translation>没有任何记录</translation>
        </message>
        <message>
            <source>Waiting for the first update</source>
            <translation>等待第一次更新</translation>
        </message>
        <message>
            <source>It has not started yet</source>
            <translation>尚未开始</translation>
        </message>
    </context>
    <context>
        <name>lathe::form::FieldEditor</name>
        <message>
            <source>Choose a folder</source>
            <translation>选择文件夹</translation>
        </message>
        <message>
            <source>Choose a file</source>
            <translation>选择文件</translation>
        </message>
    </context>
    <context>
        <name>lathe::form::FieldRow</name>
        <message>
            <source>Fixed when the run starts.</source>
            <translation>运行开始后不可更改。</translation>
        </message>
        <message>
            <source>Can be changed when the run is continued.</source>
            <translation>继续运行时可以更改。</translation>
        </message>
        <message>
            <source>Can be changed at the next update.</source>
            <translation>可在下一次更新时更改。</translation>
        </message>
        <message>
            <source>Back to %1</source>
            <translation>恢复为 %1</translation>
        </message>
        <message>
            <source>Reset %1 to %2</source>
            <translation>将“%1”恢复为 %2</translation>
        </message>
    </context>
    <context>
        <name>lathe::form::FormModel</name>
        <message>
            <source>Change %1</source>
            <translation>更改“%1”</translation>
        </message>
        <message>
            <source>on</source>
            <translation>开</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>empty</source>
            <translation>空</translation>
        </message>
    </context>
    <context>
        <name>lathe::form::PathEditor</name>
        <message>
            <source>Browse for %1</source>
            <translation>为“%1”浏览</translation>
        </message>
        <message>
            <source>Browse…</source>
            <translation>浏览…</translation>
        </message>
        <message>
            <source>Choose a folder…</source>
            <translation>选择文件夹…</translation>
        </message>
        <message>
            <source>Choose a file…</source>
            <translation>选择文件…</translation>
        </message>
    </context>
    <context>
        <name>lathe::form::SchemaForm</name>
        <message>
            <source>Search settings  (Ctrl+F)</source>
            <translation>搜索设置  (Ctrl+F)</translation>
        </message>
        <message>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>Advanced</source>
            <translation>高级</translation>
        </message>
        <message>
            <source>Only changed</source>
            <translation>仅已更改</translation>
        </message>
        <message>
            <source>No setting matches.</source>
            <translation>没有匹配的设置。</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::CheckpointsModel</name>
        <message>
            <source>continued</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>rolled back</source>
            <translation>回退</translation>
        </message>
        <message>
            <source>restarted</source>
            <translation>自动重启</translation>
        </message>
        <message>
            <source>started over</source>
            <translation>从头重新开始</translation>
        </message>
        <message>
            <source>forked</source>
            <translation>派生</translation>
        </message>
        <message>
            <source>started from weights</source>
            <translation>从权重开始</translation>
        </message>
        <message>
            <source>started</source>
            <translation>开始</translation>
        </message>
        <message>
            <source>What this run began from</source>
            <translation>此运行的起点</translation>
        </message>
        <message>
            <source>Session %1</source>
            <translation>会话 %1</translation>
        </message>
        <message>
            <source>branch %1</source>
            <translation>分支 %1</translation>
        </message>
        <message>
            <source>being written</source>
            <translation>正在写入</translation>
        </message>
        <message>
            <source>cannot be used: %1</source>
            <translation>不可用：%1</translation>
        </message>
        <message>
            <source>best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>pinned</source>
            <translation>已固定</translation>
        </message>
        <message>
            <source>newest</source>
            <translation>最新</translation>
        </message>
        <message>
            <source>one of every so many</source>
            <translation>每隔若干步保留</translation>
        </message>
        <message>
            <source>another run was made from it</source>
            <translation>有其他运行由它创建</translation>
        </message>
        <message>
            <source>the run went on from it</source>
            <translation>运行由它继续</translation>
        </message>
        <message>
            <source>the run began from it</source>
            <translation>运行由它开始</translation>
        </message>
        <message>
            <source>newest of its branch</source>
            <translation>其分支中最新</translation>
        </message>
        <message>
            <source>re-read and whole</source>
            <translation>已复查且完好</translation>
        </message>
        <message>
            <source>on an abandoned branch</source>
            <translation>在已放弃的分支上</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Saved</source>
            <translation>保存时间</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>Evaluation</source>
            <translation>评估</translation>
        </message>
        <message>
            <source>Kept because</source>
            <translation>保留原因</translation>
        </message>
        <message>
            <source>makes room for the next one</source>
            <translation>下次保存时让出位置</translation>
        </message>
        <message>
            <source>whole, %1</source>
            <translation>完好，%1</translation>
        </message>
        <message>
            <source>not yet</source>
            <translation>尚未</translation>
        </message>
        <message>
            <source>Re-read</source>
            <translation>已复查</translation>
        </message>
        <message>
            <source>%1 at step %2</source>
            <comment>rolled back at step 600</comment>
            <translation>第 %2 步%1</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::CompareModel</name>
        <message>
            <source>%1 at step %2</source>
            <translation>第 %2 步的 %1</translation>
        </message>
        <message>
            <source>%1 at the end</source>
            <translation>结束时的 %1</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步数</translation>
        </message>
        <message>
            <source>Active time</source>
            <translation>活动时间</translation>
        </message>
        <message>
            <source>What</source>
            <translation>项目</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::ConfigModel</name>
        <message>
            <source>Setting</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::EventsModel</name>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>类型</translation>
        </message>
        <message>
            <source>What happened</source>
            <translation>发生了什么</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::LogModel</name>
        <message>
            <source>There is no %1 yet</source>
            <translation>还没有 %1</translation>
        </message>
        <message>
            <source>%1 is not a regular file</source>
            <translation>%1 不是普通文件</translation>
        </message>
        <message>
            <source>Cannot read %1: %2</source>
            <translation>无法读取 %1：%2</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::QueueModel</name>
        <message>
            <source>Held</source>
            <translation>已搁置</translation>
        </message>
        <message>
            <source>Cannot start</source>
            <translation>无法开始</translation>
        </message>
        <message>
            <source>Next</source>
            <translation>下一个</translation>
        </message>
        <message>
            <source>Waits</source>
            <translation>等待中</translation>
        </message>
        <message>
            <source>It lies in another workspace: %1</source>
            <translation>它在另一个工作区:%1</translation>
        </message>
        <message>
            <source>Place</source>
            <translation>位置</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Since</source>
            <translation>排队时间</translation>
        </message>
        <message>
            <source>How it stands</source>
            <translation>状况</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::RecordNamesModel</name>
        <message>
            <source>Table</source>
            <translation>表格</translation>
        </message>
        <message>
            <source>Histogram</source>
            <translation>直方图</translation>
        </message>
        <message>
            <source>Picture</source>
            <translation>图片</translation>
        </message>
        <message>
            <source>Values</source>
            <translation>数值</translation>
        </message>
        <message>
            <source>Files</source>
            <translation>文件</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Summary values</source>
            <translation>汇总值</translation>
        </message>
        <message>
            <source>Checkpoint files</source>
            <translation>检查点文件</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>类型</translation>
        </message>
        <message>
            <source>Records</source>
            <translation>记录</translation>
        </message>
        <message>
            <source>Last step</source>
            <translation>最后一步</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::RunsModel</name>
        <message>
            <source>, last: </source>
            <translation>，最新：</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>Training loss</source>
            <translation>训练损失</translation>
        </message>
        <message>
            <source>Active</source>
            <translation>活动时间</translation>
        </message>
        <message>
            <source>Started</source>
            <translation>开始时间</translation>
        </message>
        <message>
            <source>Tags</source>
            <translation>标签</translation>
        </message>
    </context>
    <context>
        <name>lathe::models::SheetModel</name>
        <message>
            <source>applies</source>
            <translation>生效</translation>
        </message>
        <message>
            <source>applies from now</source>
            <translation>从现在起生效</translation>
        </message>
        <message>
            <source>ignored</source>
            <translation>被忽略</translation>
        </message>
        <message>
            <source>forbidden</source>
            <translation>不允许</translation>
        </message>
        <message>
            <source>Setting</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>From the checkpoint</source>
            <translation>检查点中的值</translation>
        </message>
        <message>
            <source>Asked for</source>
            <translation>要求的值</translation>
        </message>
        <message>
            <source>Will be used</source>
            <translation>将使用的值</translation>
        </message>
        <message>
            <source>fixed</source>
            <translation>不可更改</translation>
        </message>
        <message>
            <source>Effect</source>
            <translation>结果</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ChartsTab</name>
        <message>
            <source>Horizontal axis</source>
            <translation>横轴</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Active time</source>
            <translation>活动时间</translation>
        </message>
        <message>
            <source>Smoothing</source>
            <translation>平滑</translation>
        </message>
        <message>
            <source>Log loss</source>
            <translation>损失取对数</translation>
        </message>
        <message>
            <source>Ignore outliers</source>
            <translation>忽略离群点</translation>
        </message>
        <message>
            <source>The vertical range leaves out the first steps and the lowest and highest 5 %. All points stay drawn.</source>
            <translation>纵轴范围不计最初几步以及最低和最高的 5 %。所有点仍会绘出。</translation>
        </message>
        <message>
            <source>Follow</source>
            <translation>跟随</translation>
        </message>
        <message>
            <source>Abandoned branches</source>
            <translation>已放弃的分支</translation>
        </message>
        <message>
            <source>Show, dimmed, what was left by rolling back</source>
            <translation>以淡色显示回退后留下的部分</translation>
        </message>
        <message>
            <source>Show all</source>
            <translation>显示全部</translation>
        </message>
        <message>
            <source>Drag to zoom, wheel at the cursor, double-click shows everything.</source>
            <translation>拖动可缩放，滚轮以光标为中心缩放，双击显示全部。</translation>
        </message>
        <message>
            <source>off</source>
            <translation>关</translation>
        </message>
        <message>
            <source>Place %1 in the queue. %2</source>
            <translation>队列中第 %1 位。%2</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::CheckpointsTab</name>
        <message>
            <source>No checkpoint yet</source>
            <translation>还没有检查点</translation>
        </message>
        <message>
            <source>One is written at each interval of the configuration, at a stop, at the end, and when you press Save now.</source>
            <translation>按配置的间隔、停止时、结束时以及按下“立即保存”时都会写入检查点。</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Same run, on from here</source>
            <translation>同一运行，从这里继续</translation>
        </message>
        <message>
            <source>Roll back</source>
            <translation>回退</translation>
        </message>
        <message>
            <source>Same run, a new branch from here; what came after stays, dimmed</source>
            <translation>同一运行，从这里开新分支；之后的部分以淡色保留</translation>
        </message>
        <message>
            <source>Fork</source>
            <translation>派生</translation>
        </message>
        <message>
            <source>New run with the entire state</source>
            <translation>带完整状态的新运行</translation>
        </message>
        <message>
            <source>Start from weights</source>
            <translation>从权重开始</translation>
        </message>
        <message>
            <source>New run at step 0 with these weights and a fresh optimizer</source>
            <translation>从第 0 步开始的新运行，使用这些权重和全新的优化器</translation>
        </message>
        <message>
            <source>With changes…</source>
            <translation>更改后进行…</translation>
        </message>
        <message>
            <source>Any of these with other settings; a sheet tells first what would happen</source>
            <translation>以其他设置进行上述任一操作；会先说明结果</translation>
        </message>
        <message>
            <source>Pin</source>
            <translation>固定</translation>
        </message>
        <message>
            <source>A pinned checkpoint is never cleared away</source>
            <translation>固定的检查点不会被清理</translation>
        </message>
        <message>
            <source>Verify</source>
            <translation>校验</translation>
        </message>
        <message>
            <source>Reads every byte and compares it with what was written</source>
            <translation>读取每个字节并与写入时比较</translation>
        </message>
        <message>
            <source>Export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Weights, class names, preprocessing and a loader in Python</source>
            <translation>权重、类别名、预处理和 Python 加载程序</translation>
        </message>
        <message>
            <source>Delete…</source>
            <translation>删除…</translation>
        </message>
        <message>
            <source>Checkpoints</source>
            <translation>检查点</translation>
        </message>
        <message numerus="yes">
            <source>%n checkpoint(s), %1</source>
            <translation>
                <numerusform>%n 个检查点，%1</numerusform>
            </translation>
        </message>
        <message>
            <source>Select a checkpoint first.</source>
            <translation>请先选择一个检查点。</translation>
        </message>
        <message>
            <source>The run is up; stop it first.</source>
            <translation>运行正在进行；请先停止。</translation>
        </message>
        <message>
            <source>This checkpoint cannot be used: %1</source>
            <translation>此检查点不可用：%1</translation>
        </message>
        <message>
            <source>Only the newest checkpoint of the current branch continues it. Use Roll back here.</source>
            <translation>只有当前分支的最新检查点才能继续。这里请用“回退”。</translation>
        </message>
        <message>
            <source>Unpin</source>
            <translation>取消固定</translation>
        </message>
        <message>
            <source>It is pinned; unpin it first.</source>
            <translation>它已固定；请先取消固定。</translation>
        </message>
        <message>
            <source>Roll back: same run, new branch  ·  Fork: new run, entire state  ·  Start from weights: new run, fresh optimizer</source>
            <translation>回退：同一运行，新分支  ·  派生：新运行，完整状态  ·  从权重开始：新运行，全新优化器</translation>
        </message>
        <message>
            <source>Continue: same run, on from here</source>
            <translation>继续：同一运行，从这里接着训练</translation>
        </message>
        <message>
            <source>Continue is off: %1</source>
            <translation>不能继续：%1</translation>
        </message>
        <message>
            <source>No checkpoints</source>
            <translation>没有检查点</translation>
        </message>
        <message>
            <source>Moves this checkpoint to the trash</source>
            <translation>将此检查点移到回收站</translation>
        </message>
        <message>
            <source>Queue…</source>
            <translation>排队…</translation>
        </message>
        <message>
            <source>Any of these once its device is free, behind the runs that wait already</source>
            <translation>设备空闲后进行上述任一操作，排在已等待的运行之后</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ClassBalance</name>
        <message>
            <source>Class balance</source>
            <translation>类别分布</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>Samples per class, most %1</source>
            <translation>每类样本数，最多 %1</translation>
        </message>
        <message numerus="yes">
            <source>%1: %n sample(s)</source>
            <translation>
                <numerusform>%1：%n 个样本</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::CommandStart</name>
        <message>
            <source>Run your own command</source>
            <translation>运行自己的命令</translation>
        </message>
        <message>
            <source>Any program that trains. Lathe starts it, keeps its output, and shows the values that it logs. It runs without a shell: quotes work, pipes and redirections do not.</source>
            <translation>任何训练程序。Lathe 启动它、保存其输出并显示它记录的值。它不经过 shell 运行：引号有效，管道和重定向无效。</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Working folder</source>
            <translation>工作文件夹</translation>
        </message>
        <message>
            <source>from the script and its arguments</source>
            <translation>由脚本及其参数生成</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Start the command</source>
            <translation>启动命令</translation>
        </message>
        <message>
            <source>Starting…</source>
            <translation>正在启动…</translation>
        </message>
        <message>
            <source>Type a command first</source>
            <translation>请先输入命令</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>Put in the queue</source>
            <translation>加入队列</translation>
        </message>
        <message>
            <source>Starts when no other run uses its device, behind those that wait already</source>
            <translation>排在已等待的运行之后,等没有其他运行使用其设备时开始</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ComparePage</name>
        <message>
            <source>Choose runs</source>
            <translation>选择运行</translation>
        </message>
        <message>
            <source>Nothing to compare yet</source>
            <translation>还没有可比较的内容</translation>
        </message>
        <message>
            <source>Tick two or more runs in the table of runs and press Compare.</source>
            <translation>在运行列表中勾选两个或更多运行，然后按“比较”。</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行列表</translation>
        </message>
        <message>
            <source>Choose runs…</source>
            <translation>选择运行…</translation>
        </message>
        <message>
            <source>Series</source>
            <translation>序列</translation>
        </message>
        <message>
            <source>Smoothing</source>
            <translation>平滑</translation>
        </message>
        <message>
            <source>Log y</source>
            <translation>纵轴取对数</translation>
        </message>
        <message>
            <source>What differs</source>
            <translation>差异</translation>
        </message>
        <message>
            <source>Only differences</source>
            <translation>仅差异</translation>
        </message>
        <message numerus="yes">
            <source>%n run(s)</source>
            <translation>
                <numerusform>%n 个运行</numerusform>
            </translation>
        </message>
        <message>
            <source>step %1</source>
            <translation>第 %1 步</translation>
        </message>
        <message>
            <source>Leave out %1</source>
            <translation>移除 %1</translation>
        </message>
        <message>
            <source>Leave out</source>
            <translation>移除</translation>
        </message>
        <message>
            <source>identical in every part</source>
            <translation>各部分完全相同</translation>
        </message>
        <message>
            <source>results at step %1, the last that all of them reached, and at each run&apos;s end</source>
            <translation>第 %1 步（所有运行都到达的最后一步）以及各自结束时的结果</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ConfigTab</name>
        <message>
            <source>Compare with</source>
            <translation>比较对象</translation>
        </message>
        <message>
            <source>Only differences</source>
            <translation>仅差异</translation>
        </message>
        <message>
            <source>Copy as YAML</source>
            <translation>复制为 YAML</translation>
        </message>
        <message>
            <source>Run again…</source>
            <translation>再次运行…</translation>
        </message>
        <message>
            <source>Configuration</source>
            <translation>配置</translation>
        </message>
        <message>
            <source>preset %1</source>
            <translation>预设 %1</translation>
        </message>
        <message>
            <source>parent %1</source>
            <translation>父运行 %1</translation>
        </message>
        <message>
            <source>defaults</source>
            <translation>默认值</translation>
        </message>
        <message>
            <source>session %1</source>
            <translation>会话 %1</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::DataCard</name>
        <message>
            <source>Own data…</source>
            <translation>自己的数据…</translation>
        </message>
        <message>
            <source>A folder of class folders with JPEG or PNG pictures, a CSV file, IDX files or a text file. Dropping it on this card does the same.</source>
            <translation>按类别分文件夹的 JPEG 或 PNG 图片、CSV 文件、IDX 文件或文本文件。也可以直接拖到此卡片上。</translation>
        </message>
        <message>
            <source>A folder of pictures…</source>
            <translation>图片文件夹…</translation>
        </message>
        <message>
            <source>A CSV, IDX or text file…</source>
            <translation>CSV、IDX 或文本文件…</translation>
        </message>
        <message>
            <source>No training data chosen</source>
            <translation>尚未选择训练数据</translation>
        </message>
        <message>
            <source>Drop a folder of class folders, a CSV file, IDX files or a text file here, or press Own data.</source>
            <translation>把按类别分的文件夹、CSV 文件、IDX 文件或文本文件拖到这里，或按“自己的数据”。</translation>
        </message>
        <message>
            <source>Looking at the data  %1 of %2</source>
            <translation>正在查看数据  %1 / %2</translation>
        </message>
        <message>
            <source>Looking at the data</source>
            <translation>正在查看数据</translation>
        </message>
        <message>
            <source>This data cannot be used</source>
            <translation>此数据不可用</translation>
        </message>
        <message>
            <source>Left out: %1 (%2)</source>
            <translation>已略去：%1（%2）</translation>
        </message>
        <message numerus="yes">
            <source> and %n more</source>
            <translation>
                <numerusform> 等另外 %n 个</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::DevicesPage</name>
        <message>
            <source>GPU</source>
            <translation>GPU</translation>
        </message>
        <message>
            <source>Looking for GPUs</source>
            <translation>正在查找 GPU</translation>
        </message>
        <message>
            <source>Processor</source>
            <translation>处理器</translation>
        </message>
        <message>
            <source>Processor use</source>
            <translation>处理器占用</translation>
        </message>
        <message>
            <source>Cores</source>
            <translation>核心</translation>
        </message>
        <message>
            <source>Memory in use</source>
            <translation>已用内存</translation>
        </message>
        <message>
            <source>Load</source>
            <translation>负载</translation>
        </message>
        <message>
            <source>GPU %1 · %2</source>
            <translation>GPU %1 · %2</translation>
        </message>
        <message>
            <source>%1 · bus %2 · compute capability %3.%4</source>
            <translation>%1 · 总线 %2 · 计算能力 %3.%4</translation>
        </message>
        <message>
            <source>In use</source>
            <translation>占用</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Power</source>
            <translation>功率</translation>
        </message>
        <message>
            <source>over the last seconds</source>
            <translation>最近几秒</translation>
        </message>
        <message>
            <source>measuring</source>
            <translation>正在测量</translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>%1 / %2</translation>
        </message>
        <message numerus="yes">
            <source>usable by runs · %n thread(s)</source>
            <translation>
                <numerusform>可供运行使用 · %n 个线程</numerusform>
            </translation>
        </message>
        <message>
            <source>of %1</source>
            <translation>共 %1</translation>
        </message>
        <message>
            <source>runnable threads, last minute</source>
            <translation>可运行线程，最近一分钟</translation>
        </message>
        <message>
            <source>No GPU was found; runs use the processor.</source>
            <translation>未找到 GPU；运行将使用处理器。</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ImportStart</name>
        <message>
            <source>Take over TensorBoard files</source>
            <translation>导入 TensorBoard 文件</translation>
        </message>
        <message>
            <source>Each folder with event files becomes a run here, with its curves in full. Reading a folder again adds only what is new; the files are never changed.</source>
            <translation>每个含事件文件的文件夹在这里成为一个运行，曲线完整保留。再次读取同一文件夹只添加新内容；文件绝不会被更改。</translation>
        </message>
        <message>
            <source>Folder</source>
            <translation>文件夹</translation>
        </message>
        <message>
            <source>that of the folder</source>
            <translation>与文件夹同名</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Follow the files while they grow</source>
            <translation>文件增长时跟随</translation>
        </message>
        <message>
            <source>Import</source>
            <translation>导入</translation>
        </message>
        <message>
            <source>Reading the files…</source>
            <translation>正在读取文件…</translation>
        </message>
        <message>
            <source>Choose a folder first</source>
            <translation>请先选择文件夹</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message>
            <source>There are no TensorBoard event files in %1</source>
            <translation>%1 中没有 TensorBoard 事件文件</translation>
        </message>
        <message numerus="yes">
            <source>%n run(s) imported</source>
            <translation>
                <numerusform>已导入 %n 个运行</numerusform>
            </translation>
        </message>
        <message>
            <source>%1, %2 new points</source>
            <translation>%1，%2 个新点</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::LogTab</name>
        <message>
            <source>The last lines of the log</source>
            <translation>日志的最后几行</translation>
        </message>
        <message>
            <source>Events</source>
            <translation>事件</translation>
        </message>
        <message>
            <source>Log file</source>
            <translation>日志文件</translation>
        </message>
        <message>
            <source>No log file yet</source>
            <translation>还没有日志文件</translation>
        </message>
        <message>
            <source>The log is empty.</source>
            <translation>日志为空。</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::NewRunPage</name>
        <message>
            <source>Preset</source>
            <translation>预设</translation>
        </message>
        <message>
            <source>Open a configuration file</source>
            <translation>打开配置文件</translation>
        </message>
        <message>
            <source>Open a configuration file…</source>
            <translation>打开配置文件…</translation>
        </message>
        <message>
            <source>Start training</source>
            <translation>开始训练</translation>
        </message>
        <message numerus="yes">
            <source>%n changed setting(s) would be replaced.</source>
            <translation>
                <numerusform>%n 项已更改的设置将被替换。</numerusform>
            </translation>
        </message>
        <message>
            <source>Keep them</source>
            <translation>保留</translation>
        </message>
        <message>
            <source>Replace</source>
            <translation>替换</translation>
        </message>
        <message>
            <source>Load the preset %1?</source>
            <translation>载入预设 %1？</translation>
        </message>
        <message>
            <source>Open %1?</source>
            <translation>打开 %1？</translation>
        </message>
        <message>
            <source>%1 was not loaded. %2</source>
            <translation>%1 未载入。%2</translation>
        </message>
        <message>
            <source>Fill the form with this run&apos;s settings?</source>
            <translation>用此运行的设置填写表单？</translation>
        </message>
        <message>
            <source>from preset %1</source>
            <translation>来自预设 %1</translation>
        </message>
        <message>
            <source>from %1</source>
            <translation>来自 %1</translation>
        </message>
        <message>
            <source>again, from %1</source>
            <translation>再次运行，来自 %1</translation>
        </message>
        <message>
            <source>Ready</source>
            <translation>就绪</translation>
        </message>
        <message numerus="yes">
            <source>Ready, %n setting(s) changed</source>
            <translation>
                <numerusform>就绪，更改了 %n 项设置</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n problem(s)</source>
            <translation>
                <numerusform>%n 个问题</numerusform>
            </translation>
        </message>
        <message>
            <source>Starting…</source>
            <translation>正在启动…</translation>
        </message>
        <message>
            <source>Mend the problems on the right first.</source>
            <translation>请先解决右侧的问题。</translation>
        </message>
        <message>
            <source>Own data</source>
            <translation>自己的数据</translation>
        </message>
        <message>
            <source>What to run</source>
            <translation>运行什么</translation>
        </message>
        <message>
            <source>Train with Lathe</source>
            <translation>用 Lathe 训练</translation>
        </message>
        <message>
            <source>Own command</source>
            <translation>自己的命令</translation>
        </message>
        <message>
            <source>TensorBoard folder</source>
            <translation>TensorBoard 文件夹</translation>
        </message>
        <message>
            <source>Put in the queue</source>
            <translation>加入队列</translation>
        </message>
        <message>
            <source>Starts when no other run uses its device, behind those that wait already</source>
            <translation>排在已等待的运行之后,等没有其他运行使用其设备时开始</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::PictureView</name>
        <message>
            <source>Picture</source>
            <translation>图片</translation>
        </message>
        <message>
            <source>%1 × %2 pixels</source>
            <translation>%1 × %2 像素</translation>
        </message>
        <message>
            <source>%1, shown %2 times as large</source>
            <translation>%1，放大 %2 倍显示</translation>
        </message>
        <message>
            <source>%1, shown at %2 %</source>
            <translation>%1，以 %2 % 显示</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::PlanCard</name>
        <message>
            <source>Problems</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>On the command line</source>
            <translation>命令行</translation>
        </message>
        <message>
            <source>Copy the command</source>
            <translation>复制命令</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Configuration</source>
            <translation>配置</translation>
        </message>
        <message>
            <source>None, ready to start</source>
            <translation>没有问题，可以开始</translation>
        </message>
        <message numerus="yes">
            <source>%n more</source>
            <translation>
                <numerusform>另有 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <source>Changed</source>
            <translation>已更改</translation>
        </message>
        <message>
            <source>Changed from %1</source>
            <translation>相对 %1 的更改</translation>
        </message>
        <message>
            <source>Nothing yet</source>
            <translation>尚无</translation>
        </message>
        <message>
            <source>%1 training samples, %2 updates an epoch</source>
            <translation>%1 个训练样本，每轮 %2 次更新</translation>
        </message>
        <message>
            <source>%1 training samples, shared out by the plug-in</source>
            <translation>%1 个训练样本，由插件分配</translation>
        </message>
        <message>
            <source>Asking the plug-in for its curve</source>
            <translation>正在向插件询问曲线</translation>
        </message>
        <message>
            <source>The curve is not known: %1</source>
            <translation>曲线未知：%1</translation>
        </message>
        <message>
            <source>%1, %2 in all</source>
            <translation>%1，共 %2 次</translation>
        </message>
        <message>
            <source>%1, no end planned</source>
            <translation>%1，未设终点</translation>
        </message>
        <message>
            <source>How many updates that is depends on the data.</source>
            <translation>更新次数取决于数据。</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::QueuePage</name>
        <message>
            <source>New run</source>
            <translation>新运行</translation>
        </message>
        <message>
            <source>Nothing waits</source>
            <translation>没有等待的运行</translation>
        </message>
        <message>
            <source>A run that is put in the queue starts by itself once no other run uses its device, also when this window is closed.</source>
            <translation>加入队列的运行会在没有其他运行使用其设备时自动开始,即使此窗口已关闭。</translation>
        </message>
        <message>
            <source>Start the keeper</source>
            <translation>启动管理进程</translation>
        </message>
        <message>
            <source>Up</source>
            <translation>上移</translation>
        </message>
        <message>
            <source>Starts one place earlier (Alt+Up; Alt+Home: first)</source>
            <translation>提前一位开始(Alt+上;Alt+Home:到最前)</translation>
        </message>
        <message>
            <source>Down</source>
            <translation>下移</translation>
        </message>
        <message>
            <source>Starts one place later (Alt+Down; Alt+End: last)</source>
            <translation>推后一位开始(Alt+下;Alt+End:到最后)</translation>
        </message>
        <message>
            <source>Hold</source>
            <translation>搁置</translation>
        </message>
        <message>
            <source>Keeps its place and lets the others pass (Space)</source>
            <translation>保留位置,让其他运行先开始(空格)</translation>
        </message>
        <message>
            <source>Take out…</source>
            <translation>取出…</translation>
        </message>
        <message>
            <source>It does not start; it stays in the list of runs (Delete)</source>
            <translation>它不会开始,但留在运行列表中(Delete)</translation>
        </message>
        <message>
            <source>When a run fails</source>
            <translation>某个运行失败时</translation>
        </message>
        <message>
            <source>go on with the next</source>
            <translation>继续下一个</translation>
        </message>
        <message>
            <source>hold those behind it</source>
            <translation>搁置其后的运行</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>队列</translation>
        </message>
        <message>
            <source>Alt with the arrow keys moves a run, Space holds or releases it, Delete takes it out</source>
            <translation>Alt 加方向键移动运行,空格搁置或放行,Delete 取出</translation>
        </message>
        <message numerus="yes">
            <source>%n run(s) of yours on this machine</source>
            <translation>
                <numerusform>您在本机上有 %n 个运行</numerusform>
            </translation>
        </message>
        <message>
            <source>The keeper of the queue is not at work, so nothing starts by itself. Runs that are up are not touched by that.</source>
            <translation>队列的管理进程没有在工作,因此没有运行会自动开始。正在进行的运行不受影响。</translation>
        </message>
        <message>
            <source>Release</source>
            <translation>放行</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Move to the front</source>
            <translation>移到最前</translation>
        </message>
        <message>
            <source>Move to the end</source>
            <translation>移到最后</translation>
        </message>
        <message>
            <source>Take out of the queue…</source>
            <translation>从队列中取出…</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RatePreview</name>
        <message>
            <source>Learning rate over the run</source>
            <translation>整个运行的学习率</translation>
        </message>
        <message>
            <source>%1 updates</source>
            <translation>%1 次更新</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RecordBody</name>
        <message>
            <source>Text</source>
            <translation>文本</translation>
        </message>
        <message>
            <source>Table</source>
            <translation>表格</translation>
        </message>
        <message>
            <source>Over the steps: a column each, stronger where more values lie</source>
            <translation>随步数变化：每条记录一列，值越多颜色越浓</translation>
        </message>
        <message>
            <source>Histogram of %1</source>
            <translation>%1 的直方图</translation>
        </message>
        <message>
            <source>Picture %1</source>
            <translation>图片 %1</translation>
        </message>
        <message>
            <source>From</source>
            <translation>从</translation>
        </message>
        <message>
            <source>To</source>
            <translation>到</translation>
        </message>
        <message>
            <source>Count</source>
            <translation>数量</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RecordsTab</name>
        <message>
            <source>Filter names</source>
            <translation>筛选名称</translation>
        </message>
        <message>
            <source>Names of records</source>
            <translation>记录名称</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Which record</source>
            <translation>选择记录</translation>
        </message>
        <message>
            <source>Newest</source>
            <translation>最新</translation>
        </message>
        <message>
            <source>Goes on to each record that comes</source>
            <translation>随新记录自动前进</translation>
        </message>
        <message>
            <source>Nothing beside the curves yet</source>
            <translation>曲线之外还没有记录</translation>
        </message>
        <message>
            <source>The records cannot be read</source>
            <translation>无法读取记录</translation>
        </message>
        <message>
            <source>Texts, tables, histograms and pictures that a program records show up here, for example run.text(step, &quot;sample&quot;, text) in Python.</source>
            <translation>程序记录的文本、表格、直方图和图片会显示在这里，例如 Python 中的 run.text(step, &quot;sample&quot;, text)。</translation>
        </message>
        <message>
            <source>step %1</source>
            <translation>第 %1 步</translation>
        </message>
        <message>
            <source>session %1</source>
            <translation>会话 %1</translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>%1 / %2</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RemediesCard</name>
        <message>
            <source>What needs less memory</source>
            <translation>怎样减少内存</translation>
        </message>
        <message>
            <source>Continue with it…</source>
            <translation>以此继续…</translation>
        </message>
        <message>
            <source>A sheet tells first what would happen</source>
            <translation>先用一张表说明会发生什么</translation>
        </message>
        <message>
            <source>New run with it…</source>
            <translation>以此新建运行…</translation>
        </message>
        <message>
            <source>Opens the form with the settings of this run and this change, marked</source>
            <translation>打开表单，填入此运行的设置和这项已标记的更改</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::ResumeSheet</name>
        <message>
            <source>not known</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>Same run, on from its newest checkpoint</source>
            <translation>同一运行，从最新检查点继续</translation>
        </message>
        <message>
            <source>Same run, a new branch from this checkpoint; what came after stays, dimmed</source>
            <translation>同一运行，从此检查点开新分支；之后的部分以淡色保留</translation>
        </message>
        <message>
            <source>New run with the entire state</source>
            <translation>带完整状态的新运行</translation>
        </message>
        <message>
            <source>New run at step 0 with these weights and a fresh optimizer</source>
            <translation>从第 0 步开始的新运行，使用这些权重和全新的优化器</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Roll back</source>
            <translation>回退</translation>
        </message>
        <message>
            <source>Fork</source>
            <translation>派生</translation>
        </message>
        <message>
            <source>Start from weights</source>
            <translation>从权重开始</translation>
        </message>
        <message>
            <source>How to go on</source>
            <translation>如何继续</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Search settings</source>
            <translation>搜索设置</translation>
        </message>
        <message>
            <source>Only changes</source>
            <translation>仅更改</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Learning rate</source>
            <translation>学习率</translation>
        </message>
        <message>
            <source>Updates left</source>
            <translation>剩余更新</translation>
        </message>
        <message>
            <source>%1 at the next update, as planned</source>
            <translation>下一次更新为 %1，与计划相同</translation>
        </message>
        <message>
            <source>%1 instead of %2 at the next update</source>
            <translation>下一次更新为 %1，原为 %2</translation>
        </message>
        <message>
            <source>not known before the data are read</source>
            <translation>读取数据之前未知</translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>%1 / %2</translation>
        </message>
        <message>
            <source>planned before: %1</source>
            <translation>原计划：%1</translation>
        </message>
        <message>
            <source>%1. Ask for more in “%2”.</source>
            <translation>%1。请在“%2”中要求更多。</translation>
        </message>
        <message>
            <source>New curve for the length it has then</source>
            <translation>按届时的长度重新生成曲线</translation>
        </message>
        <message>
            <source>Put in the queue</source>
            <translation>放入队列</translation>
        </message>
        <message>
            <source>Goes on by itself once its device is free</source>
            <translation>设备空闲后自动继续</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RunActions</name>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Save now</source>
            <translation>立即保存</translation>
        </message>
        <message>
            <source>Stop…</source>
            <translation>停止…</translation>
        </message>
        <message>
            <source>Run again…</source>
            <translation>再次运行…</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>More for this run</source>
            <translation>此运行的更多操作</translation>
        </message>
        <message>
            <source>Unpause</source>
            <translation>恢复</translation>
        </message>
        <message>
            <source>The run is up on another machine.</source>
            <translation>运行在另一台机器上。</translation>
        </message>
        <message>
            <source>The run is just starting.</source>
            <translation>运行正在启动。</translation>
        </message>
        <message>
            <source>The run is stopping.</source>
            <translation>运行正在停止。</translation>
        </message>
        <message>
            <source>Writes a checkpoint after the update under way (Ctrl+S)</source>
            <translation>在当前更新之后写入检查点 (Ctrl+S)</translation>
        </message>
        <message>
            <source>Stop and save, or discard</source>
            <translation>停止并保存，或丢弃</translation>
        </message>
        <message>
            <source>Goes on training</source>
            <translation>继续训练</translation>
        </message>
        <message>
            <source>Waits after the update under way; memory stays held</source>
            <translation>在当前更新之后等待；内存保持占用</translation>
        </message>
        <message>
            <source>It has reached its end; asks how far it shall go on</source>
            <translation>已到终点；会询问要继续到哪里</translation>
        </message>
        <message>
            <source>Goes on from its newest checkpoint</source>
            <translation>从最新检查点继续</translation>
        </message>
        <message>
            <source>Continue with changes…</source>
            <translation>更改后继续…</translation>
        </message>
        <message>
            <source>Rename…</source>
            <translation>重命名…</translation>
        </message>
        <message>
            <source>Note…</source>
            <translation>备注…</translation>
        </message>
        <message>
            <source>Tags…</source>
            <translation>标签…</translation>
        </message>
        <message>
            <source>Remove the star</source>
            <translation>取消星标</translation>
        </message>
        <message>
            <source>Star</source>
            <translation>加星标</translation>
        </message>
        <message>
            <source>Take out of the archive</source>
            <translation>移出归档</translation>
        </message>
        <message>
            <source>Archive</source>
            <translation>归档</translation>
        </message>
        <message>
            <source>Open the folder</source>
            <translation>打开文件夹</translation>
        </message>
        <message>
            <source>Move to trash…</source>
            <translation>移到回收站…</translation>
        </message>
        <message>
            <source>The run is up; stop it first.</source>
            <translation>运行正在进行；请先停止。</translation>
        </message>
        <message>
            <source>Asks the script to stop, or tells it to end where it does not listen</source>
            <translation>请求脚本停止；若脚本不响应，则通知其结束</translation>
        </message>
        <message>
            <source>Asks the script to save what it keeps itself; it says so where it does not listen</source>
            <translation>请求脚本保存其自身的内容；若脚本不响应会告知</translation>
        </message>
        <message>
            <source>Lets the command go on</source>
            <translation>让命令继续</translation>
        </message>
        <message>
            <source>Holds the command where it is; memory stays held</source>
            <translation>让命令停在原处；内存保持占用</translation>
        </message>
        <message>
            <source>Take out…</source>
            <translation>取出…</translation>
        </message>
        <message>
            <source>Takes the run out of the queue; it does not start</source>
            <translation>将运行从队列中取出;它不会开始</translation>
        </message>
        <message>
            <source>It waits in the queue; take it out first.</source>
            <translation>它在队列中等待;请先取出。</translation>
        </message>
        <message>
            <source>Stop at once…</source>
            <translation>立即停止…</translation>
        </message>
        <message>
            <source>Does not wait for what is being saved</source>
            <translation>不等待正在保存的内容</translation>
        </message>
        <message>
            <source>It is told to leave already, and ends by force where it does not.</source>
            <translation>已要求它退出；若不退出将被强制结束。</translation>
        </message>
        <message>
            <source>Continue in the queue</source>
            <translation>在队列中继续</translation>
        </message>
        <message>
            <source>How to pause</source>
            <translation>如何暂停</translation>
        </message>
        <message>
            <source>Pause, and hold the memory or release it</source>
            <translation>暂停，并保留或释放内存</translation>
        </message>
        <message>
            <source>Hold the memory: goes on at once</source>
            <translation>保留内存：可立即继续</translation>
        </message>
        <message>
            <source>Release the memory: saves and ends, Continue loads it again and goes on exactly</source>
            <translation>释放内存：保存并结束，“继续”会重新加载并准确接续</translation>
        </message>
        <message>
            <source>It has no checkpoint that can be used. Run again starts it anew.</source>
            <translation>没有可用的检查点。“再次运行”会重新开始。</translation>
        </message>
        <message>
            <source>Ends what its lost supervisor left</source>
            <translation>结束丢失的监管进程留下的进程</translation>
        </message>
        <message>
            <source>It is being started.</source>
            <translation>正在启动。</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RunBanner</name>
        <message>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <source>Open log</source>
            <translation>打开日志</translation>
        </message>
        <message>
            <source>Starting</source>
            <translation>启动中</translation>
        </message>
        <message>
            <source>No sign of life for %1 s</source>
            <translation>已有 %1 秒没有动静</translation>
        </message>
        <message numerus="yes">
            <source>%n record(s) were lost because the disk was too slow; the curves have gaps there.</source>
            <translation>
                <numerusform>由于磁盘太慢，丢失了 %n 条记录；曲线在那里有缺口。</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RunPage</name>
        <message>
            <source>Parts of the run</source>
            <translation>运行的各部分</translation>
        </message>
        <message>
            <source>Charts</source>
            <translation>图表</translation>
        </message>
        <message>
            <source>Checkpoints</source>
            <translation>检查点</translation>
        </message>
        <message>
            <source>Config</source>
            <translation>配置</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>branch %1, rolled back to %2</source>
            <translation>分支 %1，回退到 %2</translation>
        </message>
        <message>
            <source>branch %1</source>
            <translation>分支 %1</translation>
        </message>
        <message>
            <source>Records</source>
            <translation>记录</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RunVerbs</name>
        <message>
            <source>updates</source>
            <translation>次更新</translation>
        </message>
        <message>
            <source>epochs</source>
            <translation>轮</translation>
        </message>
        <message>
            <source>Extend %1?</source>
            <translation>延长 %1？</translation>
        </message>
        <message>
            <source>It has reached its end: %1 %2 of %1. Up to how many shall it go on?</source>
            <translation>已到终点：%1 / %1 %2。要继续到多少？</translation>
        </message>
        <message>
            <source>Make a new learning-rate curve?</source>
            <translation>重新生成学习率曲线？</translation>
        </message>
        <message>
            <source>The curve of this run has come to its end: the rate stays at %1 from here on.</source>
            <translation>此运行的曲线已到终点：此后学习率保持为 %1。</translation>
        </message>
        <message>
            <source>The curve of this run has come to its end: the rate is 0 from here on, and nothing would be learned.</source>
            <translation>此运行的曲线已到终点：此后学习率为 0，将学不到任何东西。</translation>
        </message>
        <message>
            <source>A new curve spans the longer run, so that the rate rises again to what it is there.</source>
            <translation>新曲线覆盖更长的运行，学习率会重新升到那里的值。</translation>
        </message>
        <message>
            <source>Keep the curve</source>
            <translation>保留曲线</translation>
        </message>
        <message>
            <source>New curve</source>
            <translation>新曲线</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>A whole number above %1, for example %2</source>
            <translation>大于 %1 的整数，例如 %2</translation>
        </message>
        <message>
            <source>Nothing is deleted.</source>
            <translation>不会删除任何内容。</translation>
        </message>
        <message>
            <source>Roll back to step %1?</source>
            <translation>回退到第 %1 步？</translation>
        </message>
        <message>
            <source>A new branch of %1 goes on from this checkpoint. %2</source>
            <translation>%1 的新分支将从此检查点继续。%2</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>Roll back</source>
            <translation>回退</translation>
        </message>
        <message>
            <source>With changes…</source>
            <translation>更改后进行…</translation>
        </message>
        <message>
            <source>Go on with changed settings: %1</source>
            <translation>以更改的设置继续：%1</translation>
        </message>
        <message>
            <source>%1: every byte is as it was written.</source>
            <translation>%1：每个字节都与写入时一致。</translation>
        </message>
        <message>
            <source>Exported to %1</source>
            <translation>已导出到 %1</translation>
        </message>
        <message>
            <source>Delete the checkpoint at step %1?</source>
            <translation>删除第 %1 步的检查点？</translation>
        </message>
        <message>
            <source>Move %1 to the trash?</source>
            <translation>将 %1 移到回收站？</translation>
        </message>
        <message>
            <source>Move to trash</source>
            <translation>移到回收站</translation>
        </message>
        <message>
            <source>there is nothing to lose right now</source>
            <translation>目前不会丢失任何内容</translation>
        </message>
        <message>
            <source>Stop %1?</source>
            <translation>停止 %1？</translation>
        </message>
        <message>
            <source>Stop and save finishes the update under way, writes a checkpoint and ends; Continue goes on from exactly there.

Discard ends without saving: %1.</source>
            <translation>“停止并保存”会完成当前更新、写入检查点然后结束；“继续”将从那里准确接续。

“丢弃”不保存就结束：%1。</translation>
        </message>
        <message>
            <source>Keep training</source>
            <translation>继续训练</translation>
        </message>
        <message>
            <source>Discard</source>
            <translation>丢弃</translation>
        </message>
        <message>
            <source>Stop and save</source>
            <translation>停止并保存</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>What is worth remembering about %1?</source>
            <translation>关于 %1 有什么值得记住的？</translation>
        </message>
        <message>
            <source>Save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>Tags</source>
            <translation>标签</translation>
        </message>
        <message>
            <source>Words parted by commas</source>
            <translation>用逗号分隔的词</translation>
        </message>
        <message>
            <source>Rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <source>Name of the run</source>
            <translation>运行的名称</translation>
        </message>
        <message>
            <source>A name has at least one letter</source>
            <translation>名称至少要有一个字</translation>
        </message>
        <message>
            <source>The script is asked to stop, or told to end (SIGTERM) where it does not listen, and has time to save what it keeps itself. Stop at once gives it less time before it is killed.</source>
            <translation>将请求脚本停止，若其不响应则通知结束 (SIGTERM)，并留时间让它自行保存。“立即停止”在终止前给的时间更少。</translation>
        </message>
        <message>
            <source>Keep running</source>
            <translation>继续运行</translation>
        </message>
        <message>
            <source>Stop at once</source>
            <translation>立即停止</translation>
        </message>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Take %1 out of the queue?</source>
            <translation>将 %1 从队列中取出?</translation>
        </message>
        <message>
            <source>It does not start. It stays in the list of runs, from where it can be run again.</source>
            <translation>它不会开始,但留在运行列表中,可从那里再次运行。</translation>
        </message>
        <message>
            <source>Take out</source>
            <translation>取出</translation>
        </message>
        <message>
            <source>%1 is out of the queue.</source>
            <translation>%1 已从队列中取出。</translation>
        </message>
        <message>
            <source>%1 is back.</source>
            <translation>%1 已恢复。</translation>
        </message>
        <message>
            <source>Stop %1 at once?</source>
            <translation>立即停止 %1？</translation>
        </message>
        <message>
            <source>The script gets less time before it is killed; what it has not saved itself is lost.</source>
            <translation>脚本在被强制结束前的时间更少；它自己尚未保存的内容会丢失。</translation>
        </message>
        <message>
            <source>It no longer waits for the checkpoint that is being written: %1. What was saved before stays.</source>
            <translation>不再等待正在写入的检查点：%1。之前保存的内容会保留。</translation>
        </message>
        <message>
            <source>Let it finish</source>
            <translation>让它完成</translation>
        </message>
        <message>
            <source>It goes to the trash, from where it can come back; its room on the disk is free once the trash is emptied. The curves of the run stay.</source>
            <translation>它会移到回收站，可以从那里恢复；清空回收站后才会释放磁盘空间。运行的曲线会保留。</translation>
        </message>
        <message>
            <source>The checkpoint at step %1</source>
            <translation>步骤 %1 的检查点</translation>
        </message>
        <message>
            <source>The whole run leaves the list: curves, checkpoints and logs. It can come back until the trash is emptied.</source>
            <translation>整个运行会离开列表：曲线、检查点和日志。在清空回收站之前可以恢复。</translation>
        </message>
        <message>
            <source>The trash is empty.</source>
            <translation>回收站是空的。</translation>
        </message>
        <message numerus="yes">
            <source>%n run(s)</source>
            <translation>
                <numerusform>%n 个运行</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n checkpoint(s)</source>
            <translation>
                <numerusform>%n 个检查点</numerusform>
            </translation>
        </message>
        <message>
            <source>Empty the trash?</source>
            <translation>清空回收站？</translation>
        </message>
        <message>
            <source>Removed for good: %1.</source>
            <translation>将永久删除：%1。</translation>
        </message>
        <message>
            <source>Empty the trash</source>
            <translation>清空回收站</translation>
        </message>
        <message>
            <source>%1 is in the queue and goes on when its device is free.</source>
            <translation>%1 已在队列中，设备空闲时继续。</translation>
        </message>
        <message>
            <source>what came after the newest checkpoint is lost</source>
            <translation>最新检查点之后的内容会丢失</translation>
        </message>
        <message numerus="yes">
            <source>The %Ln update(s) after it stay in the run, dimmed on every chart. Nothing is deleted.</source>
            <translation>
                <numerusform>其后的 %Ln 次更新保留在运行中，在各图表上以淡色显示。不会删除任何内容。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln update(s), %1 of work, are lost</source>
            <translation>
                <numerusform>将丢失 %Ln 次更新（%1 的工作）</numerusform>
            </translation>
        </message>
        <message>
            <source>%1 is in the queue and starts when its device is free.</source>
            <translation>%1 已在队列中，设备空闲时开始。</translation>
        </message>
        <message>
            <source>Put in the queue</source>
            <translation>放入队列</translation>
        </message>
        <message>
            <source>%1 has ended meanwhile.</source>
            <translation>%1 在此期间已结束。</translation>
        </message>
        <message>
            <source>Its supervisor was lost, so nothing is recorded any more. What it ran saves and leaves by itself, and is ended by force where it does not; Continue goes on from the newest checkpoint.</source>
            <translation>监管进程已丢失，因此不再记录任何内容。其运行的进程会自行保存并退出，若不退出则被强制结束；“继续”将从最新的检查点接着进行。</translation>
        </message>
        <message>
            <source>%1 has ended.</source>
            <translation>%1 已结束。</translation>
        </message>
        <message>
            <source>%1 removed for good.</source>
            <translation>已永久删除%1。</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <comment>a run, what went wrong with it</comment>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>%1 does not wait any more: it was started, or taken out elsewhere.</source>
            <translation>%1 已不在等待：它已启动，或已在别处被取出。</translation>
        </message>
        <message>
            <source>%1 is told to leave, which may take a minute or two.</source>
            <translation>已通知 %1 退出，可能需要一两分钟。</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::RunsPage</name>
        <message>
            <source>New run</source>
            <translation>新运行</translation>
        </message>
        <message>
            <source>No runs yet</source>
            <translation>还没有运行</translation>
        </message>
        <message>
            <source>A run that you start appears here and stays, with its curves and checkpoints.</source>
            <translation>您启动的运行会出现在这里并保留，连同曲线和检查点。</translation>
        </message>
        <message>
            <source>Show all runs</source>
            <translation>显示所有运行</translation>
        </message>
        <message>
            <source>No run matches</source>
            <translation>没有匹配的运行</translation>
        </message>
        <message>
            <source>The filter or the archive hides every run.</source>
            <translation>筛选或归档隐藏了所有运行。</translation>
        </message>
        <message>
            <source>Looking for runs</source>
            <translation>正在查找运行</translation>
        </message>
        <message>
            <source>Filter by name, state, model, #tag  (Ctrl+F)</source>
            <translation>按名称、状态、模型、#标签筛选  (Ctrl+F)</translation>
        </message>
        <message>
            <source>Filter runs</source>
            <translation>筛选运行</translation>
        </message>
        <message>
            <source>Search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>Archived</source>
            <translation>已归档</translation>
        </message>
        <message>
            <source>Show archived runs too</source>
            <translation>也显示已归档的运行</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>比较</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行列表</translation>
        </message>
        <message numerus="yes">
            <source>%n run(s)</source>
            <translation>
                <numerusform>%n 个运行</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%1 of %n run(s)</source>
            <translation>
                <numerusform>%1 / %n 个运行</numerusform>
            </translation>
        </message>
        <message>
            <source>Compare %1</source>
            <translation>比较 %1</translation>
        </message>
        <message>
            <source>Tick two or more runs first.</source>
            <translation>请先勾选两个或更多运行。</translation>
        </message>
        <message>
            <source>The run is up; stop it first.</source>
            <translation>运行正在进行；请先停止。</translation>
        </message>
        <message>
            <source>Open</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>Run again…</source>
            <translation>再次运行…</translation>
        </message>
        <message>
            <source>Continue</source>
            <translation>继续</translation>
        </message>
        <message>
            <source>Rename…</source>
            <translation>重命名…</translation>
        </message>
        <message>
            <source>Note…</source>
            <translation>备注…</translation>
        </message>
        <message>
            <source>Tags…</source>
            <translation>标签…</translation>
        </message>
        <message>
            <source>Remove the star</source>
            <translation>取消星标</translation>
        </message>
        <message>
            <source>Star</source>
            <translation>加星标</translation>
        </message>
        <message>
            <source>Take out of the archive</source>
            <translation>移出归档</translation>
        </message>
        <message>
            <source>Archive</source>
            <translation>归档</translation>
        </message>
        <message>
            <source>Move to trash…</source>
            <translation>移到回收站…</translation>
        </message>
        <message>
            <source>It waits in the queue; take it out first.</source>
            <translation>它在队列中等待;请先取出。</translation>
        </message>
        <message>
            <source>Take out of the queue…</source>
            <translation>从队列中取出…</translation>
        </message>
        <message>
            <source>Continue in the queue</source>
            <translation>在队列中继续</translation>
        </message>
        <message>
            <source>Trash</source>
            <translation>回收站</translation>
        </message>
        <message>
            <source>What was deleted and can come back</source>
            <translation>已删除且可以恢复的内容</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::SampleStrip</name>
        <message>
            <source>Samples</source>
            <translation>样本</translation>
        </message>
        <message numerus="yes">
            <source>%n sample(s): %1</source>
            <translation>
                <numerusform>%n 个样本：%1</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::SchedulePreview</name>
        <message>
            <source>Learning rate over the run</source>
            <translation>整个运行的学习率</translation>
        </message>
        <message>
            <source>%1, peak %2, %3 warm-up updates</source>
            <translation>%1，峰值 %2，预热 %3 次更新</translation>
        </message>
        <message>
            <source>%1 updates</source>
            <translation>%1 次更新</translation>
        </message>
        <message>
            <source>end of the run</source>
            <translation>运行结束</translation>
        </message>
    </context>
    <context>
        <name>lathe::pages::TrashList</name>
        <message>
            <source>The trash is empty</source>
            <translation>回收站为空</translation>
        </message>
        <message>
            <source>Runs and checkpoints that are deleted lie here until the trash is emptied, and can come back.</source>
            <translation>删除的运行和检查点在清空回收站之前保留在此处，可以恢复。</translation>
        </message>
        <message>
            <source>Restore</source>
            <translation>恢复</translation>
        </message>
        <message>
            <source>Empty the trash…</source>
            <translation>清空回收站…</translation>
        </message>
        <message>
            <source>Its room on the disk is free once it is emptied.</source>
            <translation>清空后才释放磁盘空间。</translation>
        </message>
        <message>
            <source>Trash</source>
            <translation>回收站</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>What it was</source>
            <translation>类型或状态</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Started</source>
            <translation>开始时间</translation>
        </message>
        <message>
            <source>Checkpoint</source>
            <translation>检查点</translation>
        </message>
    </context>
    <context>
        <name>lathe::session::Launcher</name>
        <message>
            <source>lathe-trainer ended with code %1 and said nothing</source>
            <translation>lathe-trainer 以代码 %1 结束，没有任何说明</translation>
        </message>
        <message>
            <source>lathe-trainer was ended by signal %1</source>
            <translation>lathe-trainer 被信号 %1 终止</translation>
        </message>
        <message>
            <source>Cannot write the configuration to %1: %2. Free some space there</source>
            <translation>无法将配置写到 %1：%2。请在那里腾出空间</translation>
        </message>
    </context>
    <context>
        <name>lathe::session::QueueFeed</name>
        <message>
            <source>%1; it could not be started: %2</source>
            <translation>%1；未能启动：%2</translation>
        </message>
        <message numerus="yes">
            <source>Waits for %n GPU(s)</source>
            <translation>
                <numerusform>等待 %n 个 GPU</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>Waits for %1 of %n GPU(s)</source>
            <translation>
                <numerusform>等待 %n 个 GPU 中的 %1 个</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>Waits for one of %n GPU(s)</source>
            <translation>
                <numerusform>等待 %n 个 GPU 之一</numerusform>
            </translation>
        </message>
        <message>
            <source>Waits for the processor</source>
            <translation>等待处理器</translation>
        </message>
        <message>
            <source>Waits for %1</source>
            <translation>等待 %1</translation>
        </message>
        <message>
            <source>Waits behind %1</source>
            <translation>排在 %1 之后</translation>
        </message>
        <message>
            <source>Stays where it is until you release it; others pass it</source>
            <translation>在您放行之前保持不动,其他运行会越过它</translation>
        </message>
    </context>
    <context>
        <name>lathe::session::RunRecords</name>
        <message>
            <source>This record is not in the run&apos;s database any more.</source>
            <translation>运行的数据库中已没有这条记录。</translation>
        </message>
        <message>
            <source>The beginning of a text of %1; lathe-trainer records prints all of it.</source>
            <translation>这是 %1 文本的开头；lathe-trainer records 可输出全文。</translation>
        </message>
        <message>
            <source>This is neither a PNG nor a JPEG picture.</source>
            <translation>这不是 PNG 或 JPEG 图片。</translation>
        </message>
        <message>
            <source>This picture has %1 × %2 pixels, too many to be shown here.</source>
            <translation>这张图片有 %1 × %2 像素，太大，无法在此显示。</translation>
        </message>
        <message>
            <source>This picture is damaged: it cannot be decoded.</source>
            <translation>这张图片已损坏，无法解码。</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>Step</source>
            <translation>步</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>File</source>
            <translation>文件</translation>
        </message>
        <message>
            <source>Size</source>
            <translation>大小</translation>
        </message>
        <message>
            <source>Metrics</source>
            <translation>指标</translation>
        </message>
    </context>
    <context>
        <name>lathe::session::RunSession</name>
        <message>
            <source>This run is not up, so there is nothing to ask of it.</source>
            <translation>此运行未在进行，无法向它提出请求。</translation>
        </message>
        <message>
            <source>The run is in the trash; restore it first.</source>
            <translation>该运行在回收站中；请先恢复。</translation>
        </message>
        <message>
            <source>The folder of the run is not there.</source>
            <translation>该运行的文件夹不存在。</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::AwayBar</name>
        <message>
            <source>Close what happened while you were away</source>
            <translation>关闭您离开期间的消息</translation>
        </message>
        <message>
            <source>While you were away: %1</source>
            <translation>您离开期间：%1</translation>
        </message>
        <message numerus="yes">
            <source>and %n more</source>
            <translation>
                <numerusform>以及另外 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <source>Opens the table of runs</source>
            <translation>打开运行列表</translation>
        </message>
        <message>
            <source>%1 %2</source>
            <comment>how many, how they ended: 2 completed</comment>
            <translation>%1 个%2</translation>
        </message>
        <message>
            <source>%1 at %2</source>
            <comment>1 failed at 03:12</comment>
            <translation>%1（%2）</translation>
        </message>
        <message>
            <source>%1 (the last at %2)</source>
            <translation>%1（最近一次 %2）</translation>
        </message>
        <message>
            <source>, </source>
            <comment>between endings</comment>
            <translation>、</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::DiskBar</name>
        <message>
            <source>Close the warning about the disk</source>
            <translation>关闭磁盘警告</translation>
        </message>
        <message>
            <source>%1 is not there any more. What is shown here is as it was when it was seen last; nothing can be started or saved there.</source>
            <translation>%1 已不存在。这里显示的是最后一次看到的状态；无法在那里开始或保存任何内容。</translation>
        </message>
        <message>
            <source>%1 cannot be written. What is there can be looked at; no run can start or save there.</source>
            <translation>%1 不可写入。可以查看其中的内容；但无法在那里开始运行或保存。</translation>
        </message>
        <message>
            <source>The disk of %1 has %2 free, less than the checkpoints need that the runs there keep.</source>
            <translation>%1 所在磁盘剩余 %2，少于其中的运行要保留的检查点所需。</translation>
        </message>
        <message>
            <source>The disk of %1 is full in about %2: %3 free, the runs that are up write %4 an hour.</source>
            <translation>%1 所在磁盘约 %2 后写满：剩余 %3，正在进行的运行每小时写入 %4。</translation>
        </message>
        <message>
            <source>The disk of %1 takes no more files (%2 free): its inodes are used up, or a quota is. No run can start or save there; delete what is not needed and empty the trash.</source>
            <translation>%1 所在磁盘无法再创建文件（剩余 %2）：inode 或配额已用尽。无法在那里启动运行或保存；请删除不需要的内容并清空回收站。</translation>
        </message>
        <message>
            <source>The disk of %1 is full (%2 free). No run can start there; delete what is not needed and empty the trash.</source>
            <translation>%1 所在磁盘已满（剩余 %2）。无法在那里启动运行；请删除不需要的内容并清空回收站。</translation>
        </message>
        <message>
            <source>The disk of %1 is full (%2 free). Runs that are up go on and cannot save until there is room; delete what is not needed and empty the trash.</source>
            <translation>%1 所在磁盘已满（剩余 %2）。正在进行的运行会继续，但在有空间之前无法保存；请删除不需要的内容并清空回收站。</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::MainWindow</name>
        <message>
            <source>New run</source>
            <translation>新运行</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行列表</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>比较</translation>
        </message>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Lathe</source>
            <translation>Lathe</translation>
        </message>
        <message>
            <source>Training goes on</source>
            <translation>训练仍在继续</translation>
        </message>
        <message>
            <source>%1 keeps running without this window. Open Lathe again to watch or stop it, or use: lathe-trainer stop %1</source>
            <translation>关闭窗口后 %1 仍在运行。重新打开 Lathe 可查看或停止，或使用：lathe-trainer stop %1</translation>
        </message>
        <message>
            <source>The language changes when Lathe is opened again.</source>
            <translation>重新打开 Lathe 后语言生效。</translation>
        </message>
        <message>
            <source>%1 is in the queue and starts when its device is free.</source>
            <translation>%1 已在队列中,设备空闲时开始。</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>队列</translation>
        </message>
        <message>
            <source>%1 is in the trash.</source>
            <translation>%1 已在回收站中。</translation>
        </message>
        <message>
            <source>Undo</source>
            <translation>撤销</translation>
        </message>
        <message>
            <source>Open the run</source>
            <translation>打开该运行</translation>
        </message>
        <message>
            <source>%1 runs have ended badly: %2</source>
            <translation>%1 个运行未正常结束：%2</translation>
        </message>
        <message>
            <source>Show the runs</source>
            <translation>显示运行</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::MessageBar</name>
        <message>
            <source>Close the message</source>
            <translation>关闭消息</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::Rail</name>
        <message>
            <source>New run</source>
            <translation>新运行</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行列表</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>比较</translation>
        </message>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <source>As the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <source>Light theme</source>
            <translation>浅色主题</translation>
        </message>
        <message>
            <source>Dark theme</source>
            <translation>深色主题</translation>
        </message>
        <message>
            <source>Theme of the system</source>
            <translation>系统主题</translation>
        </message>
        <message>
            <source>Language</source>
            <translation>语言 (Language)</translation>
        </message>
        <message>
            <source>Language of the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>队列</translation>
        </message>
        <message>
            <source>Queue · %1</source>
            <translation>队列 · %1</translation>
        </message>
        <message numerus="yes">
            <source>Queue, %n run(s) wait</source>
            <translation>
                <numerusform>队列,%n 个运行在等待</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::RunSwitcher</name>
        <message>
            <source>Name of a run</source>
            <translation>运行名称</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行列表</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::RunWatch</name>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>%1: %2. %3</source>
            <translation>%1：%2。%3</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::TopBar</name>
        <message>
            <source>Switch run</source>
            <translation>切换运行</translation>
        </message>
        <message>
            <source>Go to a run by its name (Ctrl+P)</source>
            <translation>按名称转到运行 (Ctrl+P)</translation>
        </message>
    </context>
    <context>
        <name>lathe::theme::Pill</name>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
    </context>
    <context>
        <name>main</name>
        <message>
            <source>Configure, start and watch training runs, and go on from any checkpoint.</source>
            <translation>配置、启动和查看训练运行，并从任一检查点继续。</translation>
        </message>
        <message>
            <source>Folder with the runs (default: $LATHE_WORKSPACE, else ~/lathe).</source>
            <translation>存放运行的文件夹（默认：$LATHE_WORKSPACE，否则 ~/lathe）。</translation>
        </message>
        <message>
            <source>Begin with this preset on the page New run.</source>
            <translation>在“新运行”页以此预设开始。</translation>
        </message>
        <message>
            <source>Run to open: id, name, folder, or latest.</source>
            <translation>要打开的运行：编号、名称、文件夹或 latest。</translation>
        </message>
    </context>
    <context>
        <name>lathe::shell::GoneBar</name>
        <message>
            <source>Restore</source>
            <translation>恢复</translation>
        </message>
        <message>
            <source>%1 is in the trash. It can be looked at; nothing can be done with it until it is restored.</source>
            <translation>%1 在回收站中。可以查看；恢复之前不能对它进行任何操作。</translation>
        </message>
        <message>
            <source>The folder of %1 is not there any more. What is shown here is as it was when it was seen last.</source>
            <translation>%1 的文件夹已不存在。这里显示的是最后一次看到时的内容。</translation>
        </message>
    </context>
</TS>
